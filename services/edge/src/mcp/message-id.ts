/** The id of the JSON-RPC request in a body, for the edge's own errors. null: the body is no request, or a batch. */
export function messageIdOf(body: Uint8Array | undefined): string | number | null {
  if (!body) return null;
  try {
    const message: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
    if (typeof message !== 'object' || message === null || !('id' in message) || !('method' in message)) return null;
    const { id } = message;
    return typeof id === 'string' || Number.isSafeInteger(id) ? (id as string | number) : null;
  } catch {
    return null;
  }
}
