/** The response object of a turn that has said nothing yet, and what a response object says of its turn. */
import type { ReplyTurn, TurnReply } from '../../../contract/index.ts';
import { asObject, type JsonObject } from '../../../kit/read.ts';
import { echoFields, newResponse } from '../wire.ts';

/** What the turn knows better than the upstream; `conversation` only where there is one, as at the vendor. */
export const turnFields = ({ id, previous, conversation, store, background }: ReplyTurn): JsonObject => ({
  id,
  previous_response_id: previous,
  ...(conversation !== null && { conversation: { id: conversation } }),
  store,
  background,
});

export const startedResponse = (turn: ReplyTurn, { model, createdAt, body }: TurnReply): JsonObject => ({
  ...newResponse(turn.id, model, createdAt, echoFields(asObject(body) ?? {})),
  ...turnFields(turn),
});

export const queued = (turn: ReplyTurn, reply: TurnReply): JsonObject => ({ ...startedResponse(turn, reply), status: 'queued' });
