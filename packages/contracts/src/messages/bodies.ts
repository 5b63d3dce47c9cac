import type { ProtocolId } from '../protocol-id.ts';

/** Metadata of a request whose bodies are to be stored. The bytes travel beside it: first those of the request, then those of the response. */
export interface BodiesToKeep {
  /** The request's minted id. */
  id: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  accessKey: string;
  keyGroup: string;
  /** Canonical model name, once it was resolved. */
  model: string | null;
  clientProtocol: ProtocolId;
  /** Of the URL, with its query, but without a key in it. */
  path: string;
  stream: boolean;
  status: number;
  request: SentBody;
  response: SentBody;
  /** Maximum bytes to store of each body. */
  maxBytes: number;
  ttlHours: number;
  /** Catalog revision the edge knew when the request ended: at least its secrets are searched for in the bodies. Absent from edges of earlier versions. */
  revision?: number;
}

/** Lengths of one body in bytes: the original, and the part sent for storage. */
export interface SentBody {
  /** Length of the whole body. */
  size: number;
  /** Bytes of it that are sent along, long runs of base64 left out. */
  sent: number;
  /** Nothing was cut off after them. */
  whole: boolean;
}

/**
 * Bytes sent beyond the cap, so that a secret that the cap would cut in two is recognised whole; they are discarded after redaction. More than the
 * longest upstream key.
 */
export const bodyLookAhead = 20_480;
