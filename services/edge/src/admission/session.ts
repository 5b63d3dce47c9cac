/** Which session of a coding agent or chat a request belongs to, by what its client says of itself. Only ever shown and summed up: it opens nothing. */
import type { Headers } from '../http/client-routes.ts';

/** First that is there decides: what names its client before what anybody may send. */
export const sessionHeaders = [
  'x-claude-code-session-id',
  'x-opencode-session',
  'x-qwen-code-session-id',
  'x-codex-session-id',
  'x-openwebui-chat-id',
  'session_id',
  'session-id',
  'conversation_id',
  'conversation-id',
  'x-session-id',
  'x-conversation-id',
  'x-chat-id',
  // Mistral Vibe's only one.
  'x-affinity',
] as const;

const plain = /^[\x21-\x7e]{1,128}$/;

/** null when the client says nothing, or nothing that is a plain token. */
export function sessionOf(headers: Headers): string | null {
  for (const name of sessionHeaders) {
    const value = headers[name];
    if (value !== undefined) return plain.test(value) ? value : null;
  }
  return null;
}

const uuid = /^"(?:session_)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"$/i;
/** Bytes of one in its quotes; Kimi Code writes `session_` before it. */
const lengths: readonly number[] = [38, 46];

/** Session id from a body's prompt cache key, still in JSON quotes. Agents send one UUID per session; other clients send one text for everything. */
export const sessionOfCacheKey = (bytes: Buffer, { start, end }: { start: number; end: number }): string | null => {
  if (!lengths.includes(end - start)) return null;
  const text = bytes.toString('latin1', start, end);
  return uuid.test(text) ? text.slice(1, -1) : null;
};
