/** Finds anything by a piece of its name. */
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { findAnything } from '../find/find-anything.ts';
import { readInput } from '../validation/read-input.ts';
import { findAnswer } from './answers/find.ts';
import { base, type Route } from './route.ts';

/** In the body: what people look for may be more than an address should hold, and addresses are logged. */
const findBody = z.strictObject({ q: z.string().min(1).max(512).describe('A part of a name or alias, or a whole id') });

export const findRoutes = (context: ConsoleContext): Route[] => [
  {
    method: 'post',
    path: `${base}/find`,
    operationId: 'find',
    summary: 'Resources by a part of their name or alias, a request or session by its whole id: the nearest of each kind',
    tag: 'meta',
    body: findBody,
    status: 200,
    answer: findAnswer,
    async handle(request, response) {
      const { q } = readInput(findBody, request.body);
      response.json({ items: await findAnything(q, context) });
    },
  },
];
