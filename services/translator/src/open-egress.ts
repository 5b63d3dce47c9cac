/** An upstream's proxy, DNS and TLS settings with their secrets opened, once per record. */
import type { UpstreamRecord } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Keyring } from '@model-gateway/secrets';
import type { Redactor } from '@model-gateway/telemetry';
import { createEgressReader, type Egress } from '@model-gateway/upstream-client';

/** Throws `upstream_credential` when a secret does not open: nothing is sent past a proxy that was asked for. */
export function createEgressOpener(keyring: Keyring, redactor: Redactor): (upstream: UpstreamRecord) => Egress | undefined {
  const read = createEgressReader({ open: (sealed, boundTo) => keyring.open(sealed, boundTo), secret: (value) => redactor.add(value) });
  return (upstream) => {
    try {
      return read(upstream);
    } catch (cause) {
      throw new GatewayError('upstream_credential', { cause });
    }
  };
}
