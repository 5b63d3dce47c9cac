/** Who is calling: one resolver for all carriers of an access key. */

import type { IncomingMessage } from 'node:http';
import type { AccessKeyRecord, KeyGroup, Snapshot } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { hashAccessKey, isAccessKeyFormat, maskKey } from '@model-gateway/secrets';

/** The authenticated access key and its group. */
export interface Principal {
  key: AccessKeyRecord;
  group: KeyGroup;
}

const carriers = ['authorization', 'x-api-key', 'api-key', 'x-gamma-api-key', 'x-goog-api-key'] as const;
const carrierNames = new Set<string>(carriers);
const bearer = /^bearer /i;
const minCarrierLength = Math.min(...carriers.map(({ length }) => length));
const maxCarrierLength = Math.max(...carriers.map(({ length }) => length));

/** The header for a key that came in none: the first that the caller did not send. */
export const freeCarrier = (headers: Readonly<Record<string, string>>): string => carriers.find((name) => headers[name] === undefined) ?? carriers[0];

/** Headers that the edge never forwards. */
export const credentialHeaders: ReadonlySet<string> = new Set([...carriers, 'proxy-authorization', 'cookie']);

/** 401 for no, unknown, disabled, expired, repeated or conflicting credentials; one sentence for all, so that nothing is learnt by trying. */
export function authenticate(request: IncomingMessage, query: URLSearchParams, snapshot: Snapshot, now: number): Principal {
  const values = collect(request, query);
  const found = values.length === 1 ? find(values[0]!, snapshot, now) : lookUp(values, snapshot, now);
  if (!found?.enabled || (found.expires_at !== null && found.expires_at <= now)) throw new GatewayError('unauthorized');
  const group = snapshot.keyGroups.get(found.group);
  if (!group?.enabled) throw new GatewayError('unauthorized');
  return { key: found, group };
}

/** First and last characters of the key that let the caller in. */
export const maskOfCaller = (request: IncomingMessage, query: URLSearchParams, { key }: Principal): string =>
  maskKey(collect(request, query).find((value) => [key.hash, key.previous?.hash].includes(hashAccessKey(value))) ?? '');

/** Every credential of the request, also those of other parties: none may be stored with a body that repeats it. */
export const credentialsOf = (request: IncomingMessage, query: URLSearchParams): readonly string[] => collect(request, query);

/** The distinct values sent. Values of our own format must agree; a header sent twice is refused whatever it holds. */
function collect(request: IncomingMessage, query: URLSearchParams): string[] {
  const seen: string[] = [];
  const values: string[] = [];
  const { rawHeaders } = request;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const { length } = rawHeaders[at]!;
    if (length < minCarrierLength || length > maxCarrierLength) continue;
    const name = rawHeaders[at]!.toLowerCase();
    if (!carrierNames.has(name)) continue;
    if (seen.includes(name)) throw new GatewayError('unauthorized', { message: `The header ${name} was sent twice.` });
    seen.push(name);
    const value = credentialOf(name, rawHeaders[at + 1]!);
    if (value !== '' && !values.includes(value)) values.push(value);
  }
  const inQuery = query.getAll('key');
  if (inQuery.length > 1) throw new GatewayError('unauthorized', { message: 'The query parameter key was sent twice.' });
  if (inQuery[0] && !values.includes(inQuery[0])) values.push(inQuery[0]);
  return values;
}

function credentialOf(name: string, value: string): string {
  const text = value.trim();
  if (name !== 'authorization') return text;
  return bearer.test(text) ? text.slice(7).trim() : '';
}

/**
 * Keys that let somebody in: the same few come with every request. Only what was found is kept, so that there is one entry for a key of the catalog at
 * most, and only while the catalog's keys stay the same.
 */
let found: { among: Snapshot['accessKeys']; records: Map<string, AccessKeyRecord> } | undefined;

function find(value: string, { accessKeys, previousKeys }: Snapshot, now: number): AccessKeyRecord | undefined {
  if (value.length > 512) return undefined;
  if (found?.among !== accessKeys) found = { among: accessKeys, records: new Map() };
  const known = found.records.get(value);
  if (known) return known;
  const hash = hashAccessKey(value);
  const record = accessKeys.get(hash);
  if (record) found.records.set(value, record);
  else if (previousKeys && previousKeys.size > 0) return findPrevious(previousKeys.get(hash), now);
  return record;
}

/** A value that was rotated away works until its time is over: looked at anew each time. */
const findPrevious = (record: AccessKeyRecord | undefined, now: number): AccessKeyRecord | undefined =>
  record?.previous && record.previous.until > now ? record : undefined;

/** Several values: those of our own format count before others, and only one key may be meant. */
function lookUp(all: readonly string[], snapshot: Snapshot, now: number): AccessKeyRecord | undefined {
  const ours = all.filter(isAccessKeyFormat);
  const values = ours.length > 0 ? ours : all;
  if (ours.length > 1) throw new GatewayError('unauthorized', { message: 'Two different access keys were sent.' });
  const found = new Set<AccessKeyRecord>();
  for (const value of values) {
    const record = find(value, snapshot, now);
    if (record) found.add(record);
  }
  if (found.size > 1) throw new GatewayError('unauthorized', { message: 'Two different access keys were sent.' });
  return [...found][0];
}
