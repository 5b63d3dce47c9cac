import type { ProtocolId } from '../protocol-id.ts';

/** What is known of a request whose bodies are to be kept. The bytes travel beside it: those of the request, then those of the response. */
export interface BodiesToKeep {
  /** The request's minted id. */
  id: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  accessKey: string;
  keyGroup: string;
  /** Canonical, once it was resolved. */
  model: string | null;
  clientProtocol: ProtocolId;
  /** Of the URL, with its query, but without a key in it. */
  path: string;
  stream: boolean;
  status: number;
  request: SentBody;
  response: SentBody;
  /** Bytes of each that are kept at most. */
  maxBytes: number;
  ttlHours: number;
  /** Of the configuration that the edge knew at the end: whose secrets are searched for, at least. Not told by edges of earlier versions. */
  revision?: number;
}

export interface SentBody {
  /** Length of the whole body. */
  size: number;
  /** Bytes of it that are sent along, long runs of base64 left out. */
  sent: number;
  /** Nothing was cut off behind them. */
  whole: boolean;
}

/**
 * Bytes beyond the cap that are sent along: a secret that the cap would cut in two is recognised whole, and what is cut anywhere else is thrown
 * away with them. Longer than the longest key of an upstream.
 */
export const bodyLookAhead = 20_480;
