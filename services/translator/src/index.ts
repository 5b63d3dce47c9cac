/** Runs one request against its upstreams: prepares, sends, reads, and carries the reply back. */
import type { Bus, Disposable } from '@model-gateway/bus';
import type { CatalogWatcher } from '@model-gateway/catalog';
import type { Outbound } from '@model-gateway/outbound';
import type { Keyring } from '@model-gateway/secrets';
import type { Service } from '@model-gateway/service';
import { createMinter } from '@model-gateway/service';
import type { Logger, Redactor } from '@model-gateway/telemetry';
import { createTokenCounter } from './count-tokens/counter.ts';
import { createKeyOpener } from './open-key.ts';
import type { Room } from './room.ts';
import { serveRun } from './run.ts';

export interface TranslatorDeps {
  bus: Bus;
  catalog: CatalogWatcher;
  outbound: Outbound;
  keyring: Keyring;
  logger: Logger;
  redactor: Redactor;
}

const mebibyte = 1024 * 1024;

export function createTranslator(deps: TranslatorDeps): Service {
  const counter = createTokenCounter();
  const room: Room = {
    ...deps,
    counter,
    mintId: createMinter(),
    openKey: createKeyOpener(deps.keyring, deps.redactor),
    envelopeKeys: envelopeKeys(deps.keyring),
    maxReplyBytes: 64 * mebibyte,
    maxEventBytes: 16 * mebibyte,
    drainMs: 30_000,
  };
  let doors: Disposable | undefined;
  let draining = false;
  return {
    name: 'translator',
    async start() {
      await deps.catalog.start();
      doors = deps.bus.serve({ open: { 'translator.run': (job, body, stream) => serveRun(job, body, stream, room) } });
    },
    async stop() {
      draining = true;
      await doors?.dispose();
      await deps.outbound.close();
      await counter.close();
      await deps.catalog.stop();
    },
    health() {
      const reasons = [...(deps.bus.connected ? [] : ['bus']), ...(deps.catalog.ready ? [] : ['catalog']), ...(draining ? ['draining'] : [])];
      return { ready: reasons.length === 0, reasons };
    },
  };
}

const envelopeLabel = 'signature-envelope';
const envelopeKeys = (keyring: Keyring): Room['envelopeKeys'] => ({ sealing: keyring.derive(envelopeLabel), opening: keyring.deriveAll(envelopeLabel) });
