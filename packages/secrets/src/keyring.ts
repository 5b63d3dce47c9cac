/** Seals values at rest, each kind under a key of its own that is derived from the master key, and derives the keys of other purposes. */
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomFillSync } from 'node:crypto';
import { type MasterKey, readMasterKeys } from './master-key.ts';

/** A key for one purpose, derived from one master key. */
export interface DerivedKey {
  /** Id of the master key behind it. */
  id: string;
  /** 32 bytes. */
  key: Buffer;
}

/** Seals and opens values with the configured master keys: the first one seals, all of them open. */
export interface Keyring {
  /** Id of the key that seals. */
  readonly id: string;
  /**
   * AES-256-GCM under a key derived from the first master key. `place` names where the value is stored (`table/row/field`): it cannot be opened as
   * another one. The part before the first slash is its purpose, and each purpose has a key of its own. `plain`: a text, or its UTF-8 bytes.
   */
  seal(plain: string | Uint8Array, place: string): string;
  /** The plain text. Throws SealError. */
  open(sealed: string, place: string): string;
  /** Whether the value was sealed by a key other than the first, or as earlier versions did: seal it anew to finish a rotation. */
  isStale(sealed: string, place: string): boolean;
  /** Id of the master key that the value needs, where it is not one of these; null: one of them sealed it. */
  missingKey(sealed: string): string | null;
  /** The keys under which values of one purpose are sealed, for services that open these and nothing else. */
  sealingKeys(purpose: string): DerivedKey[];
  /** The key of one purpose (HKDF-SHA256), the same in every process that holds the master key. */
  derive(label: string): DerivedKey;
  /** The same of every master key, the first one's first. Ids may repeat a key under its fingerprint. */
  deriveAll(label: string): DerivedKey[];
}

export type SealFault = 'malformed' | 'unknown-key' | 'not-authentic';

/** Opens values of one purpose, for services without a master key. */
export interface Opener {
  /** The plain text. Throws SealError. */
  open(sealed: string, place: string): string;
}

/** A sealed value that does not open. The message is for operators: it names a key id, never a value. */
export class SealError extends Error {
  readonly code: SealFault;

  constructor(code: SealFault, message: string) {
    super(message);
    this.name = 'SealError';
    this.code = code;
  }
}

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const noncesAtOnce = 256;
const tagBytes = 16;
const sealedForm = /^(v[12])\.([A-Za-z0-9_-]{1,32})\.([A-Za-z0-9_-]{38,})$/;
/** `v1`: earlier versions sealed everything under one key. It is read, never written. */
const present = 'v2';

/** Version and key id are bound too, so that neither can be swapped. */
const boundTo = (version: string, id: string, place: string): Buffer => Buffer.from(`${version}.${id}.${place}`, 'utf8');

const deriveKey = (master: MasterKey, purpose: string): Buffer => Buffer.from(hkdfSync('sha256', master.key, '', `model-gateway/${purpose}`, 32));
/** No label that a caller chooses gives a key that seals at rest, and no purpose gives the one key of `v1`. */
const sealPurpose = (version: string, place: string): string => (version === 'v1' ? 'seal' : `seal/${place.split('/', 1)[0]}`);
const labelPurpose = (label: string): string => `derive/${label}`;

/** The UTF-8 bytes; null: it was sealed under another key, or changed. */
function tryKey(body: Buffer, key: KeyObject, bound: Buffer): Buffer | null {
  const opening = createDecipheriv(cipher, key, body.subarray(0, nonceBytes), { authTagLength: tagBytes });
  opening.setAAD(bound);
  opening.setAuthTag(body.subarray(-tagBytes));
  try {
    return Buffer.concat([opening.update(body.subarray(nonceBytes, -tagBytes)), opening.final()]);
  } catch {
    return null;
  }
}

interface SealedParts {
  version: string;
  id: string;
  body: Buffer;
}

function partsOf(sealed: string): SealedParts | null {
  const [, version, id, text] = sealedForm.exec(sealed) ?? [];
  return version === undefined || id === undefined || text === undefined ? null : { version, id, body: Buffer.from(text, 'base64url') };
}

/** Throws SealError. `keysOf` gives the keys of a version by id. */
function openSealed(sealed: string, place: string, keysOf: (version: string) => ReadonlyMap<string, KeyObject>): string {
  const parts = partsOf(sealed);
  if (!parts) throw new SealError('malformed', 'A sealed value is not in the form that the gateway writes');
  const { version, id, body } = parts;
  const keys = keysOf(version);
  const bound = boundTo(version, id, place);
  const named = keys.get(id);
  const plain = named && tryKey(body, named, bound);
  if (plain) return plain.toString('utf8');
  // The id is the operator's name for a key: since then it may have been given to another, as may another name to this key.
  for (const other of keys.values()) {
    const opened = other === named ? null : tryKey(body, other, bound);
    if (opened) return opened.toString('utf8');
  }
  if (!named) throw new SealError('unknown-key', `A sealed value needs the master key "${id}", which GATEWAY_MASTER_KEY does not hold`);
  throw new SealError(
    'not-authentic',
    `A sealed value does not open with the master key "${id}": it was changed, moved from another place, or sealed by another key of that id`,
  );
}

class MasterKeyring implements Keyring {
  private readonly first: MasterKey;
  private readonly keys: readonly MasterKey[];
  /**
   * Sealing keys by purpose, then by id, each under its fingerprint too. There are as many purposes as kinds of secrets. Importing the bytes of a key
   * anew each time costs several times what sealing a few kilobytes does.
   */
  private readonly sealKeys = new Map<string, ReadonlyMap<string, KeyObject>>();
  /** Random bytes, each given out once: fetching them for every value costs more than the cipher does. */
  private readonly nonces = Buffer.alloc(noncesAtOnce * nonceBytes);
  private nonceAt = this.nonces.length;

  constructor(keys: readonly [MasterKey, ...MasterKey[]]) {
    this.keys = keys;
    this.first = keys[0];
  }

  get id(): string {
    return this.first.id;
  }

  seal(plain: string | Uint8Array, place: string): string {
    const nonce = this.nonce();
    const sealing = createCipheriv(cipher, this.keysFor(sealPurpose(present, place)).get(this.first.id)!, nonce);
    sealing.setAAD(boundTo(present, this.first.id, place));
    const text = typeof plain === 'string' ? sealing.update(plain, 'utf8') : sealing.update(plain);
    // A stream cipher leaves nothing for the end.
    sealing.final();
    const body = Buffer.concat([nonce, text, sealing.getAuthTag()]);
    return `${present}.${this.first.id}.${body.toString('base64url')}`;
  }

  open(sealed: string, place: string): string {
    return openSealed(sealed, place, (version) => this.keysFor(sealPurpose(version, place)));
  }

  sealingKeys(purpose: string): DerivedKey[] {
    return this.deriveEach(sealPurpose(present, purpose));
  }

  isStale(sealed: string, place: string): boolean {
    const parts = partsOf(sealed);
    if (parts?.version !== present || parts.id !== this.first.id) return true;
    return tryKey(parts.body, this.keysFor(sealPurpose(present, place)).get(this.first.id)!, boundTo(present, parts.id, place)) === null;
  }

  missingKey(sealed: string): string | null {
    const id = sealedForm.exec(sealed)?.[2];
    return id === undefined || this.keys.some((key) => key.id === id || key.fingerprint === id) ? null : id;
  }

  derive(label: string): DerivedKey {
    return { id: this.first.id, key: deriveKey(this.first, labelPurpose(label)) };
  }

  deriveAll(label: string): DerivedKey[] {
    return this.deriveEach(labelPurpose(label));
  }

  private nonce(): Buffer {
    if (this.nonceAt === this.nonces.length) {
      randomFillSync(this.nonces);
      this.nonceAt = 0;
    }
    const from = this.nonceAt;
    this.nonceAt += nonceBytes;
    return this.nonces.subarray(from, this.nonceAt);
  }

  private keysFor(purpose: string): ReadonlyMap<string, KeyObject> {
    let keys = this.sealKeys.get(purpose);
    if (!keys) {
      keys = new Map(this.deriveEach(purpose).map(({ id, key }) => [id, createSecretKey(key)]));
      this.sealKeys.set(purpose, keys);
    }
    return keys;
  }

  private deriveEach(purpose: string): DerivedKey[] {
    const named = this.keys.map((master) => ({ id: master.id, key: deriveKey(master, purpose) }));
    const taken = new Set(this.keys.map(({ id }) => id));
    const fingerprinted = this.keys.flatMap((master, index) => (taken.has(master.fingerprint) ? [] : [{ id: master.fingerprint, key: named[index]!.key }]));
    return [...named, ...fingerprinted];
  }
}

const none: ReadonlyMap<string, KeyObject> = new Map();

/** `keys`: what `sealingKeys` gave for the purpose of the values. */
export function createOpener(keys: readonly DerivedKey[]): Opener {
  const byId = new Map(keys.map(({ id, key }) => [id, createSecretKey(key)]));
  // Only the earliest versions wrote `v1`, under a key that opens everything.
  return { open: (sealed, place) => openSealed(sealed, place, (version) => (version === present ? byId : none)) };
}

/** `spec` is the value of GATEWAY_MASTER_KEY. Throws MasterKeyError, one line for the operator. */
export const createKeyring = (spec: string): Keyring => new MasterKeyring(readMasterKeys(spec));
