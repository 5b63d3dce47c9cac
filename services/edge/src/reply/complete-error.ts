/** An upstream's own error body for a caller of its protocol: the vendor's words stay, and what its server left out of the shape is filled in. */

type JsonObject = Record<string, unknown>;

/**
 * `given` and `drawn` are JSON texts, `drawn` our own error of the same protocol. Fields inside `error` are the vendor's where it has them; those
 * beside it are ours, since an id of the upstream's request means nothing here. A body of another shape gives `drawn`.
 */
export function completeError(given: string, drawn: string): string {
  const ours = asObject(parse(drawn));
  const theirs = asObject(parse(given));
  const inner = asObject(theirs?.['error']);
  if (!ours || !theirs || typeof inner?.['message'] !== 'string') return drawn;
  return JSON.stringify({ ...theirs, ...ours, error: { ...asObject(ours['error']), ...inner } });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // No JSON, so no error body of any protocol: ours is told.
  }
}

const asObject = (value: unknown): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
