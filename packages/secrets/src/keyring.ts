/** Seals values at rest under the master key, and derives the keys of other purposes from it. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { type MasterKey, readMasterKeys } from './master-key.ts';

export interface DerivedKey {
  /** Id of the master key behind it. */
  id: string;
  /** 32 bytes. */
  key: Buffer;
}

export interface Keyring {
  /** Id of the key that seals. */
  readonly id: string;
  /** AES-256-GCM under the first key. `aad` says where the value lives (table, row, field): it opens nowhere else. */
  seal(plain: string, aad: string): string;
  /** The plain text. Throws SealError. */
  open(sealed: string, aad: string): string;
  /** Whether the value was sealed by a key other than the first: seal it anew to finish a rotation. */
  isStale(sealed: string): boolean;
  /** The key of one purpose (HKDF-SHA256), the same in every process that holds the master key. */
  derive(label: string): DerivedKey;
  /** The same of every master key, the first one's first. Ids may repeat a key under its fingerprint. */
  deriveAll(label: string): DerivedKey[];
}

export type SealFault = 'malformed' | 'unknown-key' | 'not-authentic';

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
const tagBytes = 16;
const sealedForm = /^v1\.([A-Za-z0-9_-]{1,32})\.([A-Za-z0-9_-]{38,})$/;

/** Version and key id are bound too, so that neither can be swapped. */
const boundTo = (id: string, aad: string): Buffer => Buffer.from(`v1.${id}.${aad}`, 'utf8');

const deriveKey = (master: MasterKey, purpose: string): Buffer => Buffer.from(hkdfSync('sha256', master.key, '', `model-gateway/${purpose}`, 32));
/** No label that a caller chooses gives the key that seals at rest. */
const sealPurpose = 'seal';
const labelPurpose = (label: string): string => `derive/${label}`;

class MasterKeyring implements Keyring {
  private readonly first: MasterKey;
  private readonly keys: readonly MasterKey[];
  /** Sealing keys by id, each under its fingerprint too. */
  private readonly sealKeys: ReadonlyMap<string, Buffer>;

  constructor(keys: readonly [MasterKey, ...MasterKey[]]) {
    this.keys = keys;
    this.first = keys[0];
    this.sealKeys = new Map(this.deriveEach(sealPurpose).map(({ id, key }) => [id, key]));
  }

  get id(): string {
    return this.first.id;
  }

  seal(plain: string, aad: string): string {
    const nonce = randomBytes(nonceBytes);
    const sealing = createCipheriv(cipher, this.sealKeys.get(this.first.id)!, nonce);
    sealing.setAAD(boundTo(this.first.id, aad));
    const body = Buffer.concat([nonce, sealing.update(plain, 'utf8'), sealing.final(), sealing.getAuthTag()]);
    return `v1.${this.first.id}.${body.toString('base64url')}`;
  }

  open(sealed: string, aad: string): string {
    const [, id, text] = sealedForm.exec(sealed) ?? [];
    if (id === undefined || text === undefined) throw new SealError('malformed', 'A sealed value is not in the form that the gateway writes');
    const key = this.sealKeys.get(id);
    if (!key) throw new SealError('unknown-key', `A sealed value needs the master key "${id}", which GATEWAY_MASTER_KEY does not hold`);
    const body = Buffer.from(text, 'base64url');
    const opening = createDecipheriv(cipher, key, body.subarray(0, nonceBytes), { authTagLength: tagBytes });
    opening.setAAD(boundTo(id, aad));
    opening.setAuthTag(body.subarray(-tagBytes));
    try {
      return opening.update(body.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + opening.final('utf8');
    } catch {
      throw new SealError(
        'not-authentic',
        `A sealed value does not open with the master key "${id}": it was changed, moved from another place, or sealed by another key of that id`,
      );
    }
  }

  isStale(sealed: string): boolean {
    return sealedForm.exec(sealed)?.[1] !== this.first.id;
  }

  derive(label: string): DerivedKey {
    return { id: this.first.id, key: deriveKey(this.first, labelPurpose(label)) };
  }

  deriveAll(label: string): DerivedKey[] {
    return this.deriveEach(labelPurpose(label));
  }

  private deriveEach(purpose: string): DerivedKey[] {
    const named = this.keys.map((master) => ({ id: master.id, key: deriveKey(master, purpose) }));
    const taken = new Set(this.keys.map(({ id }) => id));
    const fingerprinted = this.keys.flatMap((master, index) => (taken.has(master.fingerprint) ? [] : [{ id: master.fingerprint, key: named[index]!.key }]));
    return [...named, ...fingerprinted];
  }
}

/** `spec` is the value of GATEWAY_MASTER_KEY. Throws MasterKeyError, one line for the operator. */
export const createKeyring = (spec: string): Keyring => new MasterKeyring(readMasterKeys(spec));
