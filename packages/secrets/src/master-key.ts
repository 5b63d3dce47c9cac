/** Reads GATEWAY_MASTER_KEY, and refuses what could not have come from a random generator. */
import { hash, randomBytes } from 'node:crypto';

/** One master key of GATEWAY_MASTER_KEY: 32 bytes and the name it is found by. */
export interface MasterKey {
  /** What the operator calls it, else its fingerprint. */
  id: string;
  /** Digest of the key's value: finds a key again that was first given without an id and got one later. */
  fingerprint: string;
  key: Buffer;
}

/** One line for the operator: the variable, the fault, what is accepted. Never holds the value. */
export class MasterKeyError extends Error {
  constructor(fault: string) {
    super(
      `GATEWAY_MASTER_KEY ${fault}; accepted: 32 random bytes in base64 (openssl rand -base64 32), or several as id:base64,id:base64 (the first seals, all open)`,
    );
    this.name = 'MasterKeyError';
  }
}

const keyBytes = 32;
const idForm = /^[A-Za-z0-9_-]{1,32}$/;
const base64Form = /^[A-Za-z0-9+/_-]+={0,2}$/;
/** 32 random bytes contain about 30 different values; fewer than this do not occur by chance. */
const minDistinct = 20;

const countDistinct = (values: Iterable<number>): number => new Set(values).size;

/** Why these bytes are not random, or null. */
function findWeakness(key: Buffer): string | null {
  if (key.every((byte) => byte === 0)) return 'is all zeros';
  if (key.every((byte) => byte >= 0x20 && byte <= 0x7e)) return 'is readable text, not random bytes';
  const steps = key.map((byte, index) => byte - (key[index - 1] ?? 0));
  if (countDistinct(key) < minDistinct || countDistinct(steps) < minDistinct) return 'is a sample or a pattern, not random bytes';
  return null;
}

function readKey(text: string, place: string): Buffer {
  if (!base64Form.test(text)) throw new MasterKeyError(`${place}is not base64`);
  const key = Buffer.from(text, 'base64');
  if (key.length !== keyBytes) throw new MasterKeyError(`${place}has ${key.length} bytes instead of ${keyBytes}`);
  const weakness = findWeakness(key);
  if (weakness) throw new MasterKeyError(`${place}${weakness}`);
  return key;
}

const fingerprintOf = (key: Buffer): string => hash('sha256', Buffer.concat([Buffer.from('model-gateway master key id'), key]), 'hex').slice(0, 12);

function readEntry(entry: string, position: number, alone: boolean): MasterKey {
  const place = alone ? '' : `entry ${position} `;
  const colon = entry.indexOf(':');
  if (colon < 0 && !alone) throw new MasterKeyError(`${place}has no id`);
  const id = colon < 0 ? null : entry.slice(0, colon).trim();
  if (id !== null && !idForm.test(id)) throw new MasterKeyError(`${place}has an id that is not 1 to 32 letters, digits, - or _`);
  const key = readKey(entry.slice(colon + 1).trim(), place);
  const fingerprint = fingerprintOf(key);
  return { id: id ?? fingerprint, fingerprint, key };
}

/** The keys in their order, at least one. Throws MasterKeyError. */
export function readMasterKeys(spec: string): [MasterKey, ...MasterKey[]] {
  const trimmed = spec.trim();
  if (trimmed === '') throw new MasterKeyError('is empty');
  const entries = trimmed.split(',');
  const keys = entries.map((entry, index) => readEntry(entry.trim(), index + 1, entries.length === 1));
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new MasterKeyError('has two keys of one id');
  if (new Set(keys.map(({ fingerprint }) => fingerprint)).size < keys.length) throw new MasterKeyError('has the same key twice');
  return keys as [MasterKey, ...MasterKey[]];
}

/** A new key in the form of GATEWAY_MASTER_KEY. */
export const generateMasterKey = (): string => randomBytes(keyBytes).toString('base64');
