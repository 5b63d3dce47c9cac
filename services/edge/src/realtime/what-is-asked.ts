/** What a handshake asks for, by its path, its query and the short-lived key that it came with. */
import type { RealtimeKind, Snapshot } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { RealtimeAdapter, RealtimePath } from '@model-gateway/protocols';
import { resolveName } from '@model-gateway/routing';
import type { ShortLivedKey } from './short-lived-keys.ts';

const refusal = (message: string, param: string): GatewayError => new GatewayError('invalid_request', { message, param });

/** Throws for what is not served. */
export function kindOf({ kind, intents }: RealtimePath, query: URLSearchParams, shortLived: ShortLivedKey | null): RealtimeKind {
  if (query.has('call_id')) throw refusal('Calls over WebRTC or SIP cannot be joined: open a session by model.', 'call_id');
  const intent = query.get('intent');
  const asked = intent === null ? kind : intents && Object.hasOwn(intents, intent) ? intents[intent] : undefined;
  if (asked === undefined) throw refusal('Sessions of this intent are not served here.', 'intent');
  if (!shortLived || shortLived.claims.use === asked) return asked;
  // The use of the key says which of the path's kinds it is for.
  const meant = intent === null ? Object.values(intents ?? {}).find((one) => one === shortLived.claims.use) : undefined;
  if (meant === undefined) throw new GatewayError('unauthorized');
  return meant;
}

/** null: a frame of the caller's will say. Throws where no model is named, or several are. */
export function modelOf(adapter: RealtimeAdapter, query: URLSearchParams, shortLived: ShortLivedKey | null, snapshot: Snapshot): string | null {
  // Clients that are made for Azure OpenAI call it a deployment.
  const models = query.has('model') ? query.getAll('model') : query.getAll('deployment');
  if (models.length > 1) throw refusal('The query parameter model was sent twice.', 'model');
  const [inQuery] = models;
  if (inQuery && adapter.firstFrame?.opens) throw refusal(adapter.firstFrame.missing, 'model');
  const ofKey = shortLived?.claims.model;
  if (inQuery && ofKey !== undefined && resolveName(snapshot, inQuery).canonical !== resolveName(snapshot, ofKey).canonical)
    throw new GatewayError('model_not_granted', { message: `This short-lived key may not use the model ${inQuery.slice(0, 200)}.` });
  const model = inQuery || ofKey;
  if (!model && !adapter.firstFrame) throw refusal('The query parameter model is missing.', 'model');
  return model || null;
}
