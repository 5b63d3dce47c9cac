/** Kept bodies of requests, as they are stored and as the console reads them. */

/** What a list of stored bodies holds of each. */
export interface BodyEntry {
  id: string;
  /** Milliseconds since the epoch, as all times here. */
  started_at: number;
  expires_at: number;
  access_key: string;
  key_group: string;
  /** Canonical; null when the name was never resolved. */
  model: string | null;
  client_protocol: string;
  /** Of the URL, with its query. */
  path: string;
  stream: boolean;
  status: number;
}

/** A stored body as text; `bytes` is the original length. */
export interface StoredText {
  text: string;
  /** Length of the whole body as it was. */
  bytes: number;
  /** The text ends before the body did. */
  truncated: boolean;
}

/** Both bodies of one request. Their texts must be redacted and cut before they get here. */
export interface RequestBodies extends BodyEntry {
  request: StoredText;
  response: StoredText;
}
