/** Upstreams whose credential gives no token are taken out of routing, with the reason, and come back when it does: a change of the configuration like any other. */
import { isDeepStrictEqual } from 'node:util';
import type { SsoCredential, Storage, UpstreamDocument } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';
import type { Audit } from '../audit/audit.ts';
import type { Gates } from './gates.ts';

/** Who changes what nobody's call changed, as the audit log and the history name it. */
export const gatewayActor = 'gateway';

/** undefined: upstreams may use it. */
export function unavailability(credential: SsoCredential | undefined, gates: Pick<Gates, 'isOpen'>): string | undefined {
  if (!credential) return 'sso_credential_missing';
  if (!gates.isOpen(credential.profile)) return 'sso_profile_disabled';
  return credential.state === 'ok' ? undefined : `sso_${credential.state}`;
}

export const withAvailability = ({ unavailable: _before, ...document }: UpstreamDocument, reason: string | undefined): UpstreamDocument => ({
  ...document,
  ...(reason !== undefined && { unavailable: reason }),
});

export interface AvailabilityDeps {
  storage: Storage;
  gates: Gates;
  audit: Audit;
  logger: Logger;
}

/** Brings all upstreams in step with their credentials. Costs one read where nothing changed. */
export async function syncUpstreams({ storage, gates, audit, logger }: AvailabilityDeps): Promise<void> {
  const affected = (await storage.catalog.upstreams.all()).filter(({ document }) => document.sso_credential);
  if (affected.length === 0) return;
  const credentials = new Map((await storage.ssoCredentials.all()).map((credential) => [credential.name, credential]));
  const reasonOf = (document: UpstreamDocument) => unavailability(credentials.get(document.sso_credential ?? ''), gates);
  for (const { document } of affected) {
    if (document.unavailable === reasonOf(document)) continue;
    const { name } = document;
    await storage.catalog.change(
      async (writer) => {
        const stored = await writer.upstreams.find(name);
        if (!stored?.document.sso_credential) return;
        const changed = withAvailability(stored.document, reasonOf(stored.document));
        if (!isDeepStrictEqual(changed, stored.document)) await writer.upstreams.update(stored, changed);
      },
      {
        keep: (_value, changes) => changes.length > 0,
        author: { actor: gatewayActor, action: 'update', entity_type: 'upstream', entity_id: name, ip_address: null, request_id: null },
        records: () =>
          audit.toRows([
            {
              actor: gatewayActor,
              action: 'update',
              entity_type: 'upstream',
              entity_id: name,
              ip_address: null,
              diff: { unavailable: reasonOf(document) ?? null },
            },
          ]),
      },
    );
    logger.warn({ upstream: name, reason: reasonOf(document) ?? null }, 'the availability of an upstream changed with its credential');
  }
}
