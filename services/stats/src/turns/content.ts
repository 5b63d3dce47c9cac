/** Content of turns: read from what arrives, sealed before it rests, opened when it is read. */
import { randomUUID } from 'node:crypto';
import { idOfItem, idsOfItems, isObject, outputOf, sealedAs } from '@model-gateway/contracts';
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
    throw malformed('is not valid JSON');
  }
}

/** A part of a message: what it says, and its JSON text. */
export interface Printed<T> {
  value: T;
  text: string | Uint8Array;
}

export interface TurnContent {
  input: Printed<unknown[]>;
  response: Printed<Record<string, unknown>> | null;
}

const print = <T>(value: T): Printed<T> => ({ value, text: JSON.stringify(value) });

const [beforeInput, beforeResponse] = ['{"input":', ',"response":'].map((text) => Buffer.from(text, 'utf8')) as [Buffer, Buffer];

/** `{"input":[…],"response":{…}}`; absent parts are empty. `inputBytes`: as its message says. Throws `invalid_request`. */
export function parseTurn(bytes: Uint8Array, inputBytes?: number): TurnContent {
  if (bytes.length === 0) return { input: print([]), response: null };
  const { input, response } = splitTurn(bytes, inputBytes) ?? printTurn(bytes);
  if (!Array.isArray(input.value) || (response.value !== null && !isObject(response.value))) throw malformed('has another shape');
  return { input: input as Printed<unknown[]>, response: response.value === null ? null : (response as Printed<Record<string, unknown>>) };
}

interface Parts {
  input: Printed<unknown>;
  response: Printed<unknown>;
}

function printTurn(bytes: Uint8Array): Parts {
  const value = parseContent(bytes);
  if (!isObject(value)) throw malformed('is not an object');
  const { input = [], response = null } = value;
  return { input: print(input), response: print(response) };
}

function splitTurn(bytes: Uint8Array, inputBytes: number | undefined): Parts | undefined {
  const cut = cutTurn(bytes, inputBytes);
  if (!cut) return undefined;
  const { input, response } = cut;
  return { input: { value: parseContent(input), text: input }, response: { value: parseContent(response), text: response } };
}

/** The bytes of both parts as they came; undefined where they do not lie as a writer that names `inputBytes` lays them. */
function cutTurn(bytes: Uint8Array, inputBytes: number | undefined): { input: Uint8Array; response: Uint8Array } | undefined {
  if (inputBytes === undefined) return undefined;
  const inputEnd = beforeInput.length + inputBytes;
  const responseFrom = inputEnd + beforeResponse.length;
  if (responseFrom >= bytes.length || beforeInput.compare(bytes, 0, beforeInput.length) !== 0) return undefined;
  if (beforeResponse.compare(bytes, inputEnd, responseFrom) !== 0) return undefined;
  return { input: bytes.subarray(beforeInput.length, inputEnd), response: bytes.subarray(responseFrom, -1) };
}

/** Both parts as they came, unread: their writer names the items. undefined: it does not, or no response object is there. */
export function sealUnread(
  bytes: Uint8Array,
  { inputBytes, items }: { inputBytes?: number; items?: readonly string[] },
  keyring: Keyring,
  place: Place,
): { input: Content; response: Content } | undefined {
  const cut = items && cutTurn(bytes, inputBytes);
  if (!cut || cut.response[0] !== braceOpen) return undefined;
  return { input: { ...sealPrinted(cut.input, keyring, place), items: [] }, response: sealResponseUnread(cut.response, items, keyring, place) };
}

export const sealResponseUnread = (bytes: Uint8Array, items: readonly string[], keyring: Keyring, place: Place): Content => ({
  ...sealPrinted(bytes, keyring, place),
  items,
});

const braceOpen = 0x7b;

export const sealInput = ({ value, text }: TurnContent['input'], keyring: Keyring, place: Place): Content => ({
  ...sealPrinted(text, keyring, place),
  items: idsOfItems(value),
});

export const sealResponse = (response: unknown, keyring: Keyring, place: Place): Content => sealPrintedResponse(print(response), keyring, place);

export const sealPrintedResponse = ({ value, text }: Printed<unknown>, keyring: Keyring, place: Place): Content => ({
  ...sealPrinted(text, keyring, place),
  items: idsOfItems(outputOf(value)),
});

const sealPrinted = (text: string | Uint8Array, keyring: Keyring, { owner, id }: Place): { sealed: string; bytes: number } => ({
  sealed: keyring.seal(text, sealedAs.turn(owner, id)),
  bytes: typeof text === 'string' ? Buffer.byteLength(text) : text.length,
});

/** Items of a conversation, each sealed for itself; those without an id are kept under one that nobody knows. */
export function sealItems(items: readonly unknown[], keyring: Keyring, { owner, id }: Place): StoredItem[] {
  return items.map((item) => {
    const text = JSON.stringify(item);
    return { id: idOfItem(item) ?? randomUUID(), sealed: keyring.seal(text, sealedAs.turn(owner, id)), bytes: Buffer.byteLength(text) };
  });
}

export const sealText = (text: string, keyring: Keyring, { owner, id }: Place): string => keyring.seal(text, sealedAs.turn(owner, id));
/** The JSON text. Throws SealError. */
export const openText = (sealed: string, keyring: Keyring, { owner, id }: Place): string => keyring.open(sealed, sealedAs.turn(owner, id));
export const openJson = (sealed: string, keyring: Keyring, place: Place): unknown => JSON.parse(openText(sealed, keyring, place)) as unknown;
