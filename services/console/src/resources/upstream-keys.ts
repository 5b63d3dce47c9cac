/** Which stored key each sent entry means: by id, else by value, else by position. Values that were not sent stay sealed as they are. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { type SealedUpstreamKey, sealedAs, type Upstream } from '@model-gateway/contracts';
import type { ConsoleContext } from '../context.ts';
import { type Detail, invalid } from '../problem.ts';
import { joinPath } from '../validation/read-input.ts';
import { opens, renewSeal } from './stored-secret.ts';

type SentKey = Upstream['api_keys'][number];

/** Shown instead of a key in replies; reveals nothing of the value. */
export const upstreamKeyMask = '********';

/** No real key has four asterisks in a row. */
export const isMasked = (key: string | undefined): boolean => key === undefined || /\*{4}/.test(key);

export function matchUpstreamKeys(
  sent: readonly SentKey[],
  { upstreamId, stored, context, prefix }: { upstreamId: string; stored: readonly SealedUpstreamKey[]; context: ConsoleContext; prefix: string },
): SealedUpstreamKey[] {
  const faults: Detail[] = [];
  const free = new Set(stored.map(({ id }) => id));
  for (const { id } of sent) if (id !== undefined) free.delete(id);
  const byId = new Map(stored.map((key) => [key.id, key]));
  const opened = createOpener(upstreamId, context);
  const used = new Set<string>();

  const findStored = ({ id, key }: SentKey, index: number): SealedUpstreamKey | undefined => {
    if (id !== undefined) return byId.get(id);
    const same = isMasked(key) ? undefined : stored.find((candidate) => free.has(candidate.id) && opened(candidate) === key);
    if (same) return same;
    // Positions mean the same keys only while none was added or taken away.
    const atPosition = sent.length === stored.length ? stored[index] : undefined;
    return atPosition && free.has(atPosition.id) ? atPosition : undefined;
  };

  const result = sent.map((entry, index): SealedUpstreamKey => {
    const known = findStored(entry, index);
    const id = entry.id ?? known?.id ?? context.mintId('key_');
    free.delete(id);
    const field = (name: string) => joinPath(prefix, 'api_keys', index, name);
    if (used.has(id)) faults.push({ field: field('id'), message: 'appears twice' });
    used.add(id);
    const keeps = known && (isMasked(entry.key) || opened(known) === entry.key);
    if (!keeps && isMasked(entry.key)) {
      faults.push({
        field: field('key'),
        message: entry.key === undefined ? 'is required for a new entry' : 'is a mask: name the stored entry by its id, or send the key',
      });
    }
    const boundTo = sealedAs.upstreamKey(upstreamId, id);
    const sealed = keeps ? renewSeal(context, known.sealed, boundTo) : context.keyring.seal(entry.key ?? '', boundTo);
    return {
      id,
      sealed,
      weight: entry.weight,
      ...(entry.account !== undefined && { account: entry.account }),
      ...(entry.label !== undefined && { label: entry.label }),
    };
  });
  if (faults.length > 0) throw invalid(faults);
  return result;
}

/** A key that does not open (its master key is gone) equals nothing: it can still be replaced. */
function createOpener(upstreamId: string, context: ConsoleContext): (key: SealedUpstreamKey) => string | null {
  const values = new Map<string, string | null>();
  return (key) => {
    let value = values.get(key.id);
    if (value === undefined) {
      value = opens(context, key.sealed, sealedAs.upstreamKey(upstreamId, key.id));
      values.set(key.id, value);
    }
    return value;
  };
}

/** Tells keys apart for people: eight hexadecimal digits under a key of the gateway, so that nobody without it can try values. null: the key does not open. */
export function fingerprintOf(upstreamId: string, { id, sealed }: SealedUpstreamKey, context: Pick<ConsoleContext, 'keyring' | 'logger'>): string | null {
  const value = opens(context, sealed, sealedAs.upstreamKey(upstreamId, id));
  return value === null ? null : fingerprintOfValue(value, context);
}

export const fingerprintOfValue = (value: string, { keyring }: Pick<ConsoleContext, 'keyring'>): string =>
  createHmac('sha256', keyring.derive('upstream-key-fingerprint').key).update(value, 'utf8').digest('hex').slice(0, 8);

const digest = (value: string): Buffer => createHash('sha256').update(value, 'utf8').digest();

/** Which entries of an upstream have this value. */
export function keysOfValue(
  value: string,
  upstreamId: string,
  keys: readonly SealedUpstreamKey[],
  context: Pick<ConsoleContext, 'keyring' | 'logger'>,
): SealedUpstreamKey[] {
  const wanted = digest(value);
  return keys.filter(({ id, sealed }) => {
    if (sealed === '') return false;
    const own = opens(context, sealed, sealedAs.upstreamKey(upstreamId, id));
    return own !== null && timingSafeEqual(digest(own), wanted);
  });
}
