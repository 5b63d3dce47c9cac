/** The facts about one request that template variables read. */
import { createHash } from 'node:crypto';

/** Values of the template variables for one request; functions are called only by templates that use them. */
export interface TemplateFacts {
  /** The caller's `z-request-id`; empty when absent. */
  requestId: string;
  accessKeyName: string;
  accessKeyGroup: string;
  /** Empty in body rules. */
  accessKeyHash(): string;
  /** Lower-case hex; in headers empty without a system prompt, in body rules the hash of the empty string. */
  systemPromptHash(): string;
  /** The caller's header by lower-case name. */
  header(name: string): string | undefined;
}

/** Base64 of the first 16 bytes of SHA-256 of the key's name. */
export const accessKeyHash = (name: string): string => createHash('sha256').update(name, 'utf8').digest().subarray(0, 16).toString('base64');

/** Lower-case hex of SHA-256. */
export const systemPromptHash = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** For calls that no caller's request caused (probes): every variable is empty. */
export const noFacts: TemplateFacts = {
  requestId: '',
  accessKeyName: '',
  accessKeyGroup: '',
  accessKeyHash: () => '',
  systemPromptHash: () => '',
  header: () => undefined,
};

/** Headers whose value is a credential: no template exposes them, whatever their origin. */
const credentialCarriers: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-gamma-api-key',
  'x-goog-api-key',
  'cookie',
]);

/** By lower-case name. */
export const isCredentialCarrier = (name: string): boolean => credentialCarriers.has(name);

/** Headers by lower-case name as scripts may see them, of a request or a reply. */
export const headersForScripts = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !isCredentialCarrier(name) && name !== 'set-cookie'));

/** A query as scripts may see it: the first of repeated names, without the one that may carry a key. */
export function queryForScripts(query: Iterable<readonly [string, string]>): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of query) {
    if (name === 'key' || Object.hasOwn(out, name)) continue;
    Object.defineProperty(out, name, { value, writable: true, enumerable: true, configurable: true });
  }
  return out;
}

/** A caller's header as templates may see it: never a credential, and nothing but whitespace counts as missing. */
export function visibleHeader(facts: TemplateFacts, name: string): string {
  if (credentialCarriers.has(name)) return '';
  const value = facts.header(name);
  return value === undefined || value.trim() === '' ? '' : asText(value);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Node decodes header bytes as Latin-1, but clients send UTF-8: the bytes are decoded again as UTF-8 where they are valid, else left as they are. */
function asText(value: string): string {
  if (!/[^\x00-\x7f]/.test(value) || /[^\x00-\xff]/.test(value)) return value;
  try {
    return utf8.decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}
