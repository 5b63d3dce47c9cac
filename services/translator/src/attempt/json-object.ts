import { isObject } from '@model-gateway/contracts';

/** Whether a text is one JSON object. */
export function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}
