/** An upstream's custom headers as an admin entered them: those that carry a credential are stored sealed, and opened where they are sent. */
import { sealedAs, type UpstreamRecord } from '@model-gateway/contracts';

export type StoredHeaders = Pick<UpstreamRecord, 'id' | 'custom_headers' | 'sealed_headers'>;

/** Name → template. `open` throws when the master key of a value is gone. */
export function readCustomHeaders(
  { id, custom_headers, sealed_headers }: StoredHeaders,
  open: (sealed: string, boundTo: string) => string,
): Record<string, string> {
  if (!sealed_headers) return custom_headers;
  const opened = Object.entries(sealed_headers).map(([name, sealed]) => [name, open(sealed, sealedAs.upstreamHeader(id, name.toLowerCase()))]);
  return { ...custom_headers, ...Object.fromEntries(opened) };
}
