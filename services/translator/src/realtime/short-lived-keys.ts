/** Short-lived keys for realtime sessions: made here, checked by edges, and what they carry is opened here again. */
import type { AskHandlers } from '@model-gateway/bus';
import type { RealtimeJob, ShortLivedKeyWanted } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { ShortLivedKeys } from '@model-gateway/secrets';

/** What edges ask for. */
export const serveShortLivedKeys = (keys: ShortLivedKeys): Pick<AskHandlers, 'realtime.verification-keys' | 'realtime.mint-key'> => ({
  'realtime.verification-keys': () => ({ keys: [...keys.verificationKeys] }),
  'realtime.mint-key': (wanted) => ({ value: mint(wanted, keys) }),
});

function mint({ parent, parentHash, expiresAt, kind, model, session, maxLength }: ShortLivedKeyWanted, keys: ShortLivedKeys): string {
  const claims = { parent, expiresAt, use: kind, ...(model !== undefined && { model }) };
  const value = keys.mint(claims, JSON.stringify({ parentHash, session }), maxLength);
  if (value === null) throw new GatewayError('invalid_request', { message: 'The session is too long to be carried by a short-lived key.', param: 'session' });
  return value;
}

/** The settings with which the session begins; null: there are none. Throws for a key whose parent has another value by now. */
export function settingsOf({ shortLived }: RealtimeJob, keys: ShortLivedKeys): Record<string, unknown> | null {
  if (!shortLived) return null;
  const text = keys.open(shortLived.carried);
  if (text === null) throw new GatewayError('unauthorized');
  const { parentHash, session } = JSON.parse(text) as { parentHash: string; session: string };
  if (parentHash !== shortLived.parentHash) throw new GatewayError('unauthorized');
  const settings = JSON.parse(session) as Record<string, unknown>;
  return Object.keys(settings).length > 0 ? settings : null;
}
