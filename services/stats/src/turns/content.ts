/** Content of turns: read from what arrives, sealed before it rests, opened when it is read. */
import { randomUUID } from 'node:crypto';
import { sealedAs } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Keyring } from '@model-gateway/secrets';
import type { Content, StoredItem } from '@model-gateway/storage';

/** Whose content it is. */
export interface Place {
  owner: string;
  id: string;
}

const malformed = (what: string): GatewayError => new GatewayError('invalid_request', { message: `The content of a stored turn ${what}.` });

/** The JSON bytes of a message. Throws `invalid_request`. */
export function parseContent(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')) as unknown;
  } catch {
    throw malformed('is no JSON');
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** `{"input":[…],"response":{…}}`; absent parts are empty. Throws `invalid_request`. */
export function parseTurn(bytes: Uint8Array): { input: unknown[]; response: Record<string, unknown> | null } {
  if (bytes.length === 0) return { input: [], response: null };
  const value = parseContent(bytes);
  if (!isObject(value)) throw malformed('is no object');
  const { input = [], response = null } = value;
  if (!Array.isArray(input) || (response !== null && !isObject(response))) throw malformed('has another shape');
  return { input, response };
}

const idOf = (item: unknown): string | undefined => (isObject(item) && typeof item['id'] === 'string' && item['id'] !== '' ? item['id'] : undefined);

/** The items that a response object added to the conversation. */
export const outputOf = (response: unknown): unknown[] => (isObject(response) && Array.isArray(response['output']) ? (response['output'] as unknown[]) : []);

export function sealInput(input: readonly unknown[], keyring: Keyring, { owner, id }: Place): Content {
  const text = JSON.stringify(input);
  return { sealed: keyring.seal(text, sealedAs.turn(owner, id)), bytes: Buffer.byteLength(text), items: input.flatMap((item) => idOf(item) ?? []) };
}

export function sealResponse(response: unknown, keyring: Keyring, { owner, id }: Place): Content {
  const text = JSON.stringify(response);
  return {
    sealed: keyring.seal(text, sealedAs.turn(owner, id)),
    bytes: Buffer.byteLength(text),
    items: outputOf(response).flatMap((item) => idOf(item) ?? []),
  };
}

/** Items of a conversation, each sealed for itself; those without an id are kept under one that nobody knows. */
export function sealItems(items: readonly unknown[], keyring: Keyring, { owner, id }: Place): StoredItem[] {
  return items.map((item) => {
    const text = JSON.stringify(item);
    return { id: idOf(item) ?? randomUUID(), sealed: keyring.seal(text, sealedAs.turn(owner, id)), bytes: Buffer.byteLength(text) };
  });
}

export const sealText = (text: string, keyring: Keyring, { owner, id }: Place): string => keyring.seal(text, sealedAs.turn(owner, id));
/** The JSON text. Throws SealError. */
export const openText = (sealed: string, keyring: Keyring, { owner, id }: Place): string => keyring.open(sealed, sealedAs.turn(owner, id));
export const openJson = (sealed: string, keyring: Keyring, place: Place): unknown => JSON.parse(openText(sealed, keyring, place)) as unknown;
