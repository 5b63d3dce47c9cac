/** Fetches one address that a caller named, through the dialer that refuses private ranges: bounded in size and time, never redirected. */
import { Pieces } from '@model-gateway/stream-framing';
import type { Egress, Outbound } from '@model-gateway/upstream-client';
import { sniffType } from './sniff.ts';

/** A file fetched for a request. */
export interface FetchedFile {
  mimeType: string;
  /** Standard base64. */
  data: string;
  bytes: number;
}

/** Limits of one fetch. */
export interface FetchLimits {
  maxBytes: number;
  /** For the whole call. */
  totalMs: number;
  /** Aborts the call. */
  signal: AbortSignal;
  /** Proxy, DNS and TLS settings; the ordinary way when absent. */
  egress?: Egress | undefined;
  /** What the file is known to be, whatever its server says; its bytes still decide. */
  type?: string;
}

/** null when it could not be fetched, whatever the reason: callers must not learn what is behind an address. */
export function fetchUrl(outbound: Outbound, url: string, { maxBytes, totalMs, signal, egress, type }: FetchLimits): Promise<FetchedFile | null> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(null);
    const pieces = new Pieces();
    let size = 0;
    let said: string | null = null;
    const call = outbound.send(
      {
        method: 'GET',
        url,
        headers: { accept: 'image/*, application/pdf, text/*;q=0.8, */*;q=0.1', 'accept-encoding': 'identity' },
        egress,
        timeouts: { connect_ms: Math.min(5000, totalMs), first_byte_ms: totalMs, idle_ms: Math.min(5000, totalMs), total_ms: totalMs },
      },
      {
        head(status, headers) {
          if (status === 200 && !(Number(headers['content-length']) > maxBytes)) said = headers['content-type'] ?? '';
          else stop();
        },
        data(chunk) {
          size += chunk.length;
          if (size > maxBytes) stop();
          else pieces.add(chunk);
        },
        end: () => finish(said === null ? null : readFile(pieces.take(), type ?? said)),
        error: () => finish(null),
      },
    );
    const stop = (): void => call.abort('not wanted');
    const finish = (file: FetchedFile | null): void => {
      signal.removeEventListener('abort', stop);
      resolve(file);
    };
    signal.addEventListener('abort', stop);
  });
}

function readFile(bytes: Buffer, said: string): FetchedFile | null {
  const mimeType = sniffType(bytes, said);
  return mimeType === null ? null : { mimeType, data: bytes.toString('base64'), bytes: bytes.length };
}
