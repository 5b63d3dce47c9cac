/** Events of a stream as they are read again: what is remembered or stored of them has to be printed later. */
import { scanBody } from '@model-gateway/json-bytes';
import { asObject, type JsonObject } from '../../kit/read.ts';

const noKeys = { keys: [] } as const;

/** An object in JSON text; undefined for anything else (`[DONE]`). */
export function parseObject(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    // The reader says what is made of it.
    return undefined;
  }
}

/** The same for what keeps the bounds of a request's body: what nests too deep cannot be printed again. */
export const parseBounded = (text: string): JsonObject | undefined => (scanBody(Buffer.from(text, 'utf8'), noKeys).ok ? parseObject(text) : undefined);
