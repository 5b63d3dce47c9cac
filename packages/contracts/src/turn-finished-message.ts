/** The ending of a stored turn as it comes out of an outbox, checked before it is committed. */
import { z } from 'zod';
import type { TurnFinished } from './messages/turns.ts';

const id = z.string().min(1).max(512);

/** Fields of a later version pass. */
export const turnFinishedMessage = z.looseObject({
  turn: z.looseObject({
    id,
    owner: id,
    parent: id.nullable(),
    conversation: id.nullable(),
    model: z.string(),
    status: z.enum(['completed', 'incomplete', 'failed', 'cancelled']),
    createdAt: z.number().min(0),
    background: z.boolean(),
    holder: z.string(),
    requestId: z.string(),
    at: z.looseObject({ model: z.string(), upstream: z.string(), account: z.string() }).optional(),
  }),
  authority: z.union([z.literal(1), z.literal(2)]),
  content: z.string().min(1),
}) as unknown as z.ZodType<TurnFinished>;
