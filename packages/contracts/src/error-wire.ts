/** A GatewayError on the bus. Carries nothing that the caller may not see, but `cause`, which is for logs only and already redacted. */
export interface ErrorWire {
  code: string;
  message: string;
  status: number;
  /** Seconds until a new try makes sense. */
  retryAfter?: number;
  /** Extra response headers. */
  headers?: Record<string, string>;
  /** The body field at fault. */
  param?: string;
  /** Machine-readable details beside the message: printed by protocols whose errors have such a field (`error.details`). */
  details?: Readonly<Record<string, unknown>>;
  /** A finished body in the caller's protocol, sent unchanged; set when client and upstream speak the same protocol. */
  body?: string;
}
