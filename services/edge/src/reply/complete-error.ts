/** An upstream's own error body for a caller of its protocol: the vendor's words stay, and what its server left out of the shape is filled in. */
import { isObject } from '@model-gateway/contracts';

type JsonObject = Record<string, unknown>;

/**
 * `drawn` is our own error of the same protocol, in JSON. Fields inside `error` are the vendor's where it has them; those beside it are ours, since
 * an id of the upstream's request means nothing here. JSON of another shape gives `drawn`; plain text is an answer of the gateway's own (the limit
 * of an access key) and stays.
 */
export function completeError(given: string, drawn: string): string {
  const parsed = parse(given);
  if (parsed === undefined) return given;
  const ours = asObject(parse(drawn));
  const theirs = asObject(parsed);
  const inner = asObject(theirs?.['error']);
  if (!ours || !theirs || typeof inner?.['message'] !== 'string') return drawn;
  try {
    return JSON.stringify({ ...theirs, ...ours, error: { ...asObject(ours['error']), ...inner } });
  } catch {
    // What nests too deep can be parsed, and not printed again.
    return drawn;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Plain text.
  }
}

const asObject = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined);
