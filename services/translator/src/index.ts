/** Runs one request against its upstreams: prepares, sends, reads, and carries the reply back. */
import { type Bus, type Disposable, serveGather } from '@model-gateway/bus';
import type { CatalogWatcher } from '@model-gateway/catalog';
import { DenseSet } from '@model-gateway/collections';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { SharedState } from '@model-gateway/distributed-state';
import type { Keyring } from '@model-gateway/secrets';
import type { Pressure, Service } from '@model-gateway/service-runtime';
import { createMinter } from '@model-gateway/service-runtime';
import type { Logger, Redactor, Tracer } from '@model-gateway/telemetry';
import type { Outbound } from '@model-gateway/upstream-client';
import { type DrainOptions, Drains } from './attempt/drains.ts';
import { createOutcomePublisher } from './attempt/outcomes.ts';
import { RefusedFlags } from './attempt/refused-flags.ts';
import { RefusedSignatures } from './attempt/refused-signatures.ts';
import { RetryBudget, type RetryBudgetOptions } from './attempt/retry-budget.ts';
import type { TranslatorContext } from './context.ts';
import { createTokenCounter } from './count-tokens/counter.ts';
import { Limiter } from './limits/limiter.ts';
import { limitsPart } from './limits/part.ts';
import { createEgressOpener } from './open-egress.ts';
import { createKeyOpener } from './open-key.ts';
import { PromptSizes } from './prompt-sizes.ts';
import { serveRun } from './run.ts';

/** What the translator is built from. */
export interface TranslatorDeps {
  bus: Bus;
  catalog: CatalogWatcher;
  outbound: Outbound;
  /** For addresses in callers' bodies: refuses private ranges. null or absent: they are not fetched. */
  clientUrls?: Outbound | null;
  keyring: Keyring;
  logger: Logger;
  redactor: Redactor;
  /** Where limits are counted. Stopping leaves it open. */
  state: SharedState;
  /** How long runs may take to end once the process begins to leave, in ms; then they are ended in their callers' terms. */
  leaveMs: number;
  /** How many requests may go on to another node: this share of them, and `floor` a second in any case. */
  retryBudget: RetryBudgetOptions;
  /** Bounds of reading on for the bill after a caller left. */
  drains: DrainOptions;
  /** How often rules and scripts may send one request on to another model. */
  maxHops: number;
  /** How near the process is to its end. Stopping leaves it be. */
  pressure: Pressure;
  /** Absent: no request is traced. */
  tracer?: Tracer | undefined;
}

const mebibyte = 1024 * 1024;

export function createTranslator(deps: TranslatorDeps): Service {
  const counter = createTokenCounter();
  const context: TranslatorContext = {
    ...deps,
    tracer: deps.tracer,
    clientUrls: deps.clientUrls ?? null,
    counter,
    promptSizes: new PromptSizes(),
    running: new DenseSet(),
    mintId: createMinter(),
    openKey: createKeyOpener(deps.keyring, deps.redactor),
    egressOf: createEgressOpener(deps.keyring, deps.redactor),
    envelopeKeys: envelopeKeys(deps.keyring),
    maxReplyBytes: 64 * mebibyte,
    maxEventBytes: 16 * mebibyte,
    drains: new Drains(deps.drains),
    outcomes: createOutcomePublisher(deps.bus),
    refusedFlags: new RefusedFlags(),
    refusedSignatures: new RefusedSignatures(),
    limiter: new Limiter(deps.state),
    retries: new RetryBudget(deps.retryBudget),
  };
  let registrations: Disposable | undefined;
  let answering: Disposable | undefined;
  let leavingAt: number | undefined;
  return {
    name: 'translator',
    async start() {
      await Promise.all([deps.catalog.start(), deps.state.start()]);
      answering = serveGather(deps.bus, deps.state.holder, { 'translator-limits': () => limitsPart(context.limiter, deps.state) });
      registrations = deps.bus.serve({ open: { 'translator.run': (job, body, stream) => serveRun(job, body, stream, context) } });
    },
    drain() {
      leavingAt = performance.now();
    },
    async stop() {
      leavingAt ??= performance.now();
      const left = Math.max(0, leavingAt + deps.leaveMs - performance.now());
      const late = setTimeout(() => {
        context.running.forEach((sink) => sink.interrupt(new GatewayError('draining')));
      }, left);
      await registrations?.dispose();
      // Replies whose callers left may still be read for their bill, within the same time.
      await deps.outbound.close(Math.max(0, leavingAt + deps.leaveMs - performance.now()));
      clearTimeout(late);
      context.limiter.close();
      await answering?.dispose();
      await counter.close();
      await deps.catalog.stop();
    },
    health() {
      const reasons = [...(deps.bus.connected ? [] : ['bus']), ...(deps.catalog.ready ? [] : ['catalog']), ...(leavingAt === undefined ? [] : ['draining'])];
      return { ready: reasons.length === 0, reasons, ...(deps.state.status().degraded && { notes: ['limits-by-share'] }) };
    },
  };
}

const envelopeLabel = 'signature-envelope';
const envelopeKeys = (keyring: Keyring): TranslatorContext['envelopeKeys'] => ({
  sealing: keyring.derive(envelopeLabel),
  opening: keyring.deriveAll(envelopeLabel),
});
