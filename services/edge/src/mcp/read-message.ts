/** What the edge reads of a JSON-RPC message, whose content is the aggregator's to judge. */

/** A request or notification; null: the body is something else, or a batch. */
export function readMessage(body: Uint8Array | undefined): { method: unknown; id?: unknown; params?: unknown } | null {
  try {
    const message: unknown = JSON.parse(Buffer.from(body ?? []).toString('utf8'));
    return typeof message === 'object' && message !== null && 'method' in message ? message : null;
  } catch {
    return null;
  }
}

/** The id that an error of the edge's own repeats; null: there is none to repeat. */
export function messageIdOf(body: Uint8Array | undefined): string | number | null {
  const id = readMessage(body)?.id;
  return typeof id === 'string' || Number.isSafeInteger(id) ? (id as string | number) : null;
}
