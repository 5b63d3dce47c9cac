/** A login that somebody has begun, as it is sealed until it ends. */

import type { NewUpstream } from './create-upstream.ts';
import type { NewCredential } from './credentials.ts';

export interface LoginContent {
  given: NewCredential;
  upstream?: NewUpstream | undefined;
  device?: DeviceLogin;
  code?: CodeLogin;
  /** How it ended. */
  end?: { credential: string | null; error: string | null; upstream: string | null; upstream_error: string | null };
}

/** Somebody enters a code at the vendor's page, and the gateway asks now and then whether that happened. */
export interface DeviceLogin {
  deviceCode: string;
  userCode: string;
  verificationUri: string;
  verificationUriComplete: string | null;
  /** Milliseconds between two questions; the vendor may make it longer. */
  intervalMs: number;
  /** Not asked before: ms since the epoch. */
  askAt: number;
  /** The client that was registered for this login alone. */
  secrets: Record<string, string>;
}

/** The vendor's page sends the browser back with a code. */
export interface CodeLogin {
  authorizeUrl: string;
  redirectUrl: string;
  state: string;
  verifier: string;
}
