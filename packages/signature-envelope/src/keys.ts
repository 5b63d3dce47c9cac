/** The two keys behind one envelope key: one encrypts, one makes nonces. */
import { createHmac } from 'node:crypto';

/** A key derived from the master key for envelopes: the same in every translator. */
export interface EnvelopeKey {
  id: string;
  /** 32 bytes. */
  key: Uint8Array;
}

interface KeyPair {
  encryption: Buffer;
  nonce: Buffer;
  /** For envelopes of the first generation. */
  legacy: Buffer;
}

const pairs = new WeakMap<Uint8Array, KeyPair>();

const branch = (key: Uint8Array, purpose: string, generation = 2): Buffer =>
  createHmac('sha256', key).update(`model-gateway/signatures/${generation}/${purpose}`).digest();

/** Derived once per key object: a stream seals many signatures with the same one. */
export function keyPair({ key }: EnvelopeKey): KeyPair {
  let pair = pairs.get(key);
  if (!pair) {
    pair = { encryption: branch(key, 'encryption'), nonce: branch(key, 'nonce'), legacy: branch(key, 'encryption', 1) };
    pairs.set(key, pair);
  }
  return pair;
}
