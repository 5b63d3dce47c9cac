/** Which messages may be sent to a second aggregator after the first was lost with them: those that change nothing however often they are read. */
import { readMessage } from './read-message.ts';

const reading: ReadonlySet<unknown> = new Set([
  'ping',
  'server/discover',
  'tools/list',
  'tools/search',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
]);

/** A session's stream of notifications and its end are repeated; a call of a tool is not, since its server may have begun it, nor anything that might be one. */
export function isRepeatable(method: string | undefined, body: Uint8Array | undefined): boolean {
  return method !== 'POST' || reading.has(readMessage(body)?.method);
}
