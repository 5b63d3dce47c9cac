/** Runs one request against its upstreams: prepares, sends, reads, and carries the reply back. */
import { type Bus, type Disposable, serveGather } from '@model-gateway/bus';
import type { CatalogWatcher } from '@model-gateway/catalog';
import { DenseSet } from '@model-gateway/collections';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { SharedState } from '@model-gateway/distributed-state';
import type { PriceOf } from '@model-gateway/model-catalog';
import { createShortLivedKeys, type Keyring } from '@model-gateway/secrets';
import type { Pressure, Service } from '@model-gateway/service-runtime';
import { createMinter } from '@model-gateway/service-runtime';
import type { Logger, Redactor, Tracer } from '@model-gateway/telemetry';
import type { Outbound } from '@model-gateway/upstream-client';
import { createAccessTokens } from './access-tokens.ts';
import type { SendDeps } from './attempt/deps.ts';
import { type DrainOptions, Drains } from './attempt/drains.ts';
import { createOutcomePublisher } from './attempt/outcomes.ts';
import { RetryBudget, type RetryBudgetOptions } from './attempt/retry-budget.ts';
import { headersOf } from './attempt/upstream-headers.ts';
import { createKeyCheck } from './check-keys.ts';
import { createTokenCounter, type TokenCounter } from './count-tokens/counter.ts';
import { createSearchKeyOpener } from './hosted-tools/open-search-key.ts';
import { createPageTokens } from './hosted-tools/page-tokens.ts';
import { Limiter } from './limits/limiter.ts';
import { limitsPart } from './limits/part.ts';
import { uploadFile } from './media/upload-file.ts';
import { VendorMedia } from './media/vendor-media.ts';
import { createEgressOpener } from './open-egress.ts';
import { createKeyOpener } from './open-key.ts';
import type { PrepareDeps, SignatureDeps } from './prepare/deps.ts';
import { RefusedFlags } from './prepare/refused-flags.ts';
import { RefusedSignatures } from './prepare/refused-signatures.ts';
import { PromptSizes } from './prompt-sizes.ts';
import type { RealtimeDeps } from './realtime/deps.ts';
import { serveRealtime } from './realtime/serve-realtime.ts';
import { serveShortLivedKeys } from './realtime/short-lived-keys.ts';
import { serveRun } from './run.ts';
import type { RunDeps } from './run-deps.ts';
import { askUpstream } from './tasks/ask-upstream.ts';
import type { BeginTaskDeps } from './tasks/deps.ts';
import { TaskLooks } from './tasks/task-looks.ts';
import { TaskPoller } from './tasks/task-poller.ts';
import { serveTurnsCall } from './turns/answer-call.ts';
import type { TurnDeps } from './turns/deps.ts';
import { RunningTurns } from './turns/running-turns.ts';

/** What the translator is built from. */
/** How other hosts are called, by whose address it is. */
export interface TranslatorOutbound {
  outbound: Outbound;
  /** For addresses in callers' bodies: refuses private ranges. null or absent: they are not fetched. */
  clientUrls?: Outbound | null;
  /** Fetches what upstreams name in their replies, private ranges refused; absent: files are fetched from the upstream itself alone. */
  publicUrls?: Outbound | null;
}

export interface TranslatorDeps extends TranslatorOutbound {
  bus: Bus;
  catalog: CatalogWatcher;
  keyring: Keyring;
  logger: Logger;
  redactor: Redactor;
  /** Where limits are counted. Stopping leaves it open. */
  state: SharedState;
  config: TranslatorConfig;
  /** How near the process is to its end. Stopping leaves it be. */
  pressure: Pressure;
  /** Prices of models. Absent: models have none. */
  priceOf?: PriceOf;
  /** Absent: no request is traced. */
  tracer?: Tracer | undefined;
}

/** Settings of the translator. */
export interface TranslatorConfig {
  /** How long runs may take to end once the process begins to shut down, in ms; then they are ended in their callers' terms. */
  leaveMs: number;
  /** How many requests may go on to another node: this share of them, and `floor` a second in any case. */
  retryBudget: RetryBudgetOptions;
  /** Bounds of reading on for the bill after a caller left. */
  drains: DrainOptions;
  /** How often rules and scripts may reroute one request to another model. */
  maxHops: number;
  /**
   * Stored turns. `enabled: false`: upstreams that keep their responses are asked, and the gateway notes whose those are; absent: nor that.
   * `maxHistoryBytes`: a longer history is refused.
   */
  turns?: { enabled: boolean; maxHistoryBytes: number };
}

const mebibyte = 1024 * 1024;

/** What the service itself starts, asks and stops. */
interface Composed {
  runs: RunDeps;
  realtime: RealtimeDeps;
  limiter: Limiter;
  counter: TokenCounter;
}

/** Gives each part of the translator what it uses, and nothing else. */
function composeDeps(deps: TranslatorDeps): Composed {
  const { bus, catalog, outbound, keyring, logger, redactor, config } = deps;
  const mintId = createMinter();
  const tokens = createAccessTokens({ bus, keyring, redactor });
  const limiter = new Limiter(deps.state);
  const counter = createTokenCounter();
  const scripts = { bus, logger };
  const reroute = { bus, catalog, maxHops: config.maxHops };
  const secrets = { keyring, redactor, tokens, openKey: createKeyOpener(keyring, redactor, tokens) };
  const dialers = { upstreams: outbound, publicUrls: deps.publicUrls ?? null };
  const egressOf = createEgressOpener(keyring, redactor);
  const prepare: PrepareDeps = {
    mintId,
    signatures: { envelopeKeys: envelopeKeys(keyring), refused: new RefusedSignatures() },
    refusedFlags: new RefusedFlags(),
    customHeaders: (upstream) => headersOf(upstream, secrets),
    scripts,
    hosted: { searches: outbound, pages: deps.publicUrls ?? null, openKey: createSearchKeyOpener(keyring, redactor), mintId, ...createPageTokens(keyring) },
    network: { egressOf, clientUrls: deps.clientUrls ?? null },
    upload: (file, upload, context) => uploadFile(file, upload, context, { ...dialers, secrets, logger, egressOf }),
  };
  const tasks: BeginTaskDeps = {
    bus,
    logger,
    mintId,
    ask: (task) => askUpstream(task, undefined, { catalog, send, network: prepare.network }),
    cancel: (task) => askUpstream(task, 'cancel', { catalog, send, network: prepare.network }),
  };
  const send: SendDeps = {
    outbound,
    secrets,
    reply: {
      mintId,
      media: new VendorMedia(dialers),
      tasks,
      promptSizes: new PromptSizes(),
      maxEventBytes: 16 * mebibyte,
      maxReplyBytes: 64 * mebibyte,
    },
    scripts,
    tasks,
    logger,
    drains: new Drains(config.drains),
  };
  const holder = mintId('translator_');
  const turns: TurnDeps = {
    bus,
    logger,
    keyring,
    mintId,
    holder,
    running: new RunningTurns(bus, holder),
    keptBy: config.turns && (config.turns.enabled ? 'gateway' : 'upstream'),
    maxHistoryBytes: config.turns?.maxHistoryBytes ?? 0,
    keeper: { catalog, send, network: prepare.network },
    looks: new TaskLooks(tasks),
  };
  const balance = { limiter, retries: new RetryBudget(config.retryBudget), outcomes: createOutcomePublisher(bus) };
  const runs: RunDeps = {
    bus,
    logger,
    redactor,
    tracer: deps.tracer,
    running: new DenseSet(),
    pressure: deps.pressure,
    attempts: { balance, reroute, prepare, send },
    counting: { counter, reroute, prepare, send },
    turns,
    priceOf: deps.priceOf ?? (() => null),
  };
  const realtime: RealtimeDeps = {
    bus,
    logger,
    tracer: deps.tracer,
    catalog,
    balance,
    outbound,
    secrets: send.secrets,
    shortLivedKeys: createShortLivedKeys(keyring),
    turns,
    egressOf: prepare.network.egressOf,
    running: runs.running,
  };
  return { runs, realtime, limiter, counter };
}

export function createTranslator(deps: TranslatorDeps): Service {
  const { runs, realtime, limiter, counter } = composeDeps(deps);
  const poller = new TaskPoller(runs.turns);
  const { leaveMs } = deps.config;
  let registrations: Disposable | undefined;
  let answering: Disposable | undefined;
  let leavingAt: number | undefined;
  let forget: (() => void) | undefined;
  return {
    name: 'translator',
    async start() {
      const checkKeys = createKeyCheck(deps.keyring, deps.logger);
      forget = deps.catalog.onChange((snapshot) => {
        checkKeys(snapshot);
        limiter.follow(snapshot);
      });
      await Promise.all([deps.catalog.start(), deps.state.start()]);
      const known = deps.catalog.current();
      if (known) checkKeys(known);
      answering = serveGather(deps.bus, deps.state.holder, { 'translator-limits': () => limitsPart(limiter, deps.state) });
      if (runs.turns.keptBy === 'gateway') runs.turns.running.start();
      poller.start();
      registrations = deps.bus.serve({
        ask: serveShortLivedKeys(realtime.shortLivedKeys),
        open: {
          'translator.run': (job, body, stream) => serveRun(job, body, stream, runs),
          'translator.turns': (call, body, stream) => serveTurnsCall(call, body, stream, runs.turns),
          'translator.realtime': (job, _body, stream) => serveRealtime(job, stream, realtime),
        },
      });
    },
    drain() {
      leavingAt = performance.now();
    },
    async stop() {
      leavingAt ??= performance.now();
      const left = Math.max(0, leavingAt + leaveMs - performance.now());
      const late = setTimeout(() => {
        runs.running.forEach((sink) => sink.interrupt(new GatewayError('draining')));
      }, left);
      await registrations?.dispose();
      const polled = poller.stop();
      // Replies whose callers left may still be read for their bill, and upstreams answer about tasks, within the same time.
      await deps.outbound.close(Math.max(0, leavingAt + leaveMs - performance.now()));
      await polled;
      clearTimeout(late);
      await runs.turns.running.stop();
      limiter.close();
      await answering?.dispose();
      await counter.close();
      forget?.();
      await deps.catalog.stop();
    },
    health() {
      const reasons = [
        ...(registrations ? [] : ['starting']),
        ...(deps.bus.connected ? [] : ['bus']),
        ...(deps.catalog.ready ? [] : ['catalog']),
        ...(leavingAt === undefined ? [] : ['draining']),
      ];
      return { ready: reasons.length === 0, reasons, ...(deps.state.status().degraded && { notes: ['limits-by-share'] }) };
    },
  };
}

const envelopeLabel = 'signature-envelope';
const envelopeKeys = (keyring: Keyring): SignatureDeps['envelopeKeys'] => ({
  sealing: keyring.derive(envelopeLabel),
  opening: keyring.deriveAll(envelopeLabel),
});
