/** The id that a caller gives its request: it is echoed, and kept beside the gateway's own, which it never replaces. */
import type { IncomingMessage } from 'node:http';

const plainToken = /^[\x21-\x7e]{1,128}$/;

/** null: none was given, or what cannot be echoed. */
export function clientRequestIdOf({ headers }: IncomingMessage): string | null {
  const given = headers['z-request-id'];
  return typeof given === 'string' && plainToken.test(given) ? given : null;
}
