/** Messages of the bus that could not be stored and were set aside: what they were, and a way to be rid of them. */
import { durableSubjects } from '@model-gateway/contracts';
import { z } from 'zod';
import { actorNameOf, auditOf } from '../audit/audit-of.ts';
import type { ConsoleContext } from '../context.ts';
import { Problem } from '../problem.ts';
import { readInput } from '../validation/read-input.ts';
import { deadLetterPage } from './answers/dead-letters.ts';
import { isoTime } from './answers/iso-time.ts';
import { cursorPage, sizeOf } from './instant.ts';
import { base, parameter, type Route } from './route.ts';

const letterQuery = z.object({ subject: z.enum(durableSubjects).optional(), ...cursorPage(200) });

export const deadLetterRoutes = ({ storage: { deadLetters }, audit }: ConsoleContext): Route[] => [
  {
    method: 'get',
    path: `${base}/dead-letters`,
    operationId: 'list_dead_letters',
    summary: 'Messages of the bus that could not be stored and were set aside, newest first',
    tag: 'logs',
    query: letterQuery,
    status: 200,
    answer: deadLetterPage,
    async handle(request, response) {
      const { subject, cursor, ...size } = readInput(letterQuery, request.query);
      const { items, nextCursor } = await deadLetters.list({
        limit: sizeOf(size),
        ...(subject !== undefined && { subject }),
        ...(cursor !== undefined && { cursor }),
      });
      response.json({ items: items.map((one) => ({ ...one, first_at: isoTime(one.first_at), last_at: isoTime(one.last_at) })), next_cursor: nextCursor });
    },
  },
  {
    method: 'delete',
    path: `${base}/dead-letters/{id}`,
    operationId: 'delete_dead_letter',
    summary: 'Drop a message that was set aside; the dropping is audited',
    tag: 'logs',
    status: 204,
    failures: [404],
    async handle(request, response) {
      const id = parameter(request, 'id');
      const found = await deadLetters.find(id);
      if (!found || !(await deadLetters.remove(id))) throw new Problem('not_found', 'There is no such message.');
      const { subject, item_id, reason, times } = found;
      await audit({
        ...auditOf(request, actorNameOf(response)),
        action: 'delete',
        entity_type: 'dead_letter',
        entity_id: id,
        diff: { subject, item_id, reason, times },
      });
      response.status(204).end();
    },
  },
];
