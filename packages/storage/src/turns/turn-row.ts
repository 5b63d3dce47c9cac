/** The row of a turn that begins, or is stored once it has ended. */
import type { TurnFacts } from '@model-gateway/contracts';
import type { StorageDialect } from '../dialects/dialect.ts';
import { cleanText } from '../requests/clean-text.ts';
import { isStorableId } from './ids.ts';
import type { Content } from './stored-turn.ts';

/** What is stored beside a turn's facts. */
export interface RowContent {
  input: Content;
  response: Content | null;
  expiresAt: number;
  /** -1: it has not ended. */
  authority: number;
  now: number;
}

export type TurnRow = ReturnType<typeof turnRow>;

export const turnRow = (facts: TurnFacts, { input, response, expiresAt, authority, now }: RowContent, dialect: StorageDialect) => ({
  owner: facts.owner,
  id: facts.id,
  conversation: facts.conversation,
  status: facts.status,
  parent: facts.parent !== null && isStorableId(facts.parent) ? facts.parent : null,
  model: cleanText(facts.model),
  holder: cleanText(facts.holder),
  background: dialect.encodeBoolean(facts.background),
  request_id: cleanText(facts.requestId),
  stream: facts.stream === undefined ? null : cleanText(facts.stream),
  at_model: facts.at?.model ?? null,
  at_upstream: facts.at?.upstream ?? null,
  at_account: facts.at?.account ?? null,
  created_at: facts.createdAt,
  authority,
  touched_at: now,
  expires_at: expiresAt,
  deleted: dialect.encodeBoolean(false),
  bytes: input.bytes + (response?.bytes ?? 0),
  response_bytes: response?.bytes ?? 0,
  input: input.sealed,
  response: response?.sealed ?? null,
});
