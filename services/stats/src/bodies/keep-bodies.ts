/** Stores bodies that edges send for key groups that keep them: redacted, cut, and with their end. */
import type { Bus, Disposable, ServerStream } from '@model-gateway/bus';
import { type BodiesToKeep, bodyLookAhead, type SentBody, type Snapshot, type StoredText } from '@model-gateway/contracts';
import { toGatewayError } from '@model-gateway/contracts/errors';
import type { Storage } from '@model-gateway/storage';
import type { Logger, Redactor } from '@model-gateway/telemetry';
import { createKnownSecrets, type KnownSecretsDeps } from './known-secrets.ts';
import { cutText, redactBody } from './redact-body.ts';

/** What storing request bodies needs. */
export interface KeepBodiesDeps {
  bus: Bus;
  storage: Storage;
  logger: Logger;
  redactor: Redactor;
  /** Opens what must be searched for. */
  keyring: KnownSecretsDeps['keyring'];
  /** This configuration or a later one; rejects when it cannot be had. */
  snapshot(revision: number): Snapshot | null | Promise<Snapshot>;
}

const hourMs = 3_600_000;

export function keepBodies({ bus, storage, logger, redactor, keyring, snapshot }: KeepBodiesDeps): Disposable {
  const learn = createKnownSecrets({ keyring, redactor, logger });

  async function keep(facts: BodiesToKeep, bytes: Uint8Array, stream: ServerStream<'stats.keep-bodies'>): Promise<void> {
    try {
      // A secret that was changed a moment ago is in the configuration that the edge had; without that nothing is stored.
      const known = await snapshot(facts.revision ?? 0);
      if (known) learn(known);
      const { id, startedAt, accessKey, keyGroup, model, clientProtocol, path, status, ttlHours, maxBytes } = facts;
      const text = (sent: SentBody, from: number): StoredText => storedText(bytes.subarray(from, from + sent.sent), sent, maxBytes, redactor);
      await storage.bodies.insert({
        id,
        started_at: startedAt,
        expires_at: startedAt + ttlHours * hourMs,
        access_key: accessKey,
        key_group: keyGroup,
        model,
        client_protocol: clientProtocol,
        path: redactBody(path, redactor.redactKnown),
        stream: facts.stream,
        status,
        request: text(facts.request, 0),
        response: text(facts.response, facts.request.sent),
      });
      stream.tail({});
    } catch (error) {
      // The edge counts it and says so; a body is worth neither a second try nor a line for each.
      stream.fail(toGatewayError(error));
    }
  }
  return bus.serve({ open: { 'stats.keep-bodies': (facts, bytes, stream) => void keep(facts, bytes, stream) } });
}

/** Redacts before truncating, with some bytes beyond the cut: a secret cut in half would not be recognised. */
function storedText(bytes: Uint8Array, { size, whole }: SentBody, maxBytes: number, redactor: Redactor): StoredText {
  const sent = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const redacted = redactBody(sent, redactor.redactKnown);
  const safe = whole ? redacted : cutText(redacted, Buffer.byteLength(redacted) - bodyLookAhead);
  const text = cutText(safe, maxBytes);
  return { text, bytes: size, truncated: !whole || text.length < redacted.length };
}
