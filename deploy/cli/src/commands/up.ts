/** `model-gateway up`: the whole gateway on one machine, on embedded defaults: in one process, or with workers that serve requests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHubBus } from '@model-gateway/bus';
import { type Config, ConfigError, loadConfig } from '@model-gateway/config';
import { LeaseKeeper } from '@model-gateway/distributed-state';
import { compose, type Service } from '@model-gateway/service-runtime';
import { keyringOf, prepareKeyFiles } from '../key-files.ts';
import { ownAddress } from '../own-address.ts';
import { createParts, type Parts } from '../parts.ts';
import { serviceFactories } from '../services.ts';
import { takeWorkers } from '../workers/count.ts';
import { mergeMetrics } from '../workers/merge-metrics.ts';
import { SettingsFile } from '../workers/settings-file.ts';
import { Supervisor } from '../workers/supervisor.ts';
import { type RunOptions, runService } from './run.ts';

export async function up(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const demo = args.includes('--demo') ? await import('../demo/demo.ts') : null;
  const { workers, rest: argv } = takeWorkers(args.filter((arg) => arg !== '--demo'));
  const folder = demo && mkdtempSync(join(tmpdir(), 'model-gateway-demo-'));
  if (folder !== null) process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const settings = demo && folder ? demo.demoEnvironment(env, folder) : env;
  const config = loadConfig({ env: settings, argv, flags: ['--demo', '--workers'] });
  if (config.process.natsUrls !== null)
    throw new ConfigError('NATS_URL is set, but `up` is the gateway in one process with its own bus; accepted: unset it, or use `serve`');
  if (workers !== null && config.edge.port === 0)
    throw new ConfigError('PORT 0 cannot be shared by the processes of --workers; accepted: a port from 1 to 65535');
  prepareKeyFiles(config);
  // A key that cannot be used is said before anything listens.
  keyringOf(config);
  // Notices of the console before the gateway listens are printed after the line with its address.
  const notices: string[] = [];
  let listening = false;
  const announce = (text: string): void => (listening ? void process.stdout.write(text) : void notices.push(text));
  const { parts, service, port, run } = workers === null ? await together(config, announce) : await withWorkers(config, announce, { workers, argv, settings });
  await runService(service, parts, run);
  if (!service.health().ready && port() === 0) return;
  const base = ownAddress({ host: config.edge.host, port: port() });
  if (demo) return demo.startDemo(base, config.console);
  process.stdout.write(`The gateway listens on ${base}. Its console is at ${base}/console.\n`);
  listening = true;
  for (const text of notices) process.stdout.write(text);
}

/** A gateway that is put together, before it starts. */
interface Composed {
  parts: Parts;
  service: Service;
  port(): number;
  run: RunOptions;
}

type Announce = (text: string) => void;

/** One process. */
async function together(config: Config, announce: Announce): Promise<Composed> {
  const parts = await createParts(config, 'gateway', { announce });
  const edge = await serviceFactories.edge(parts);
  // The console first: all others read the configuration from it. Statistics before the services that publish to them, so that they also stop after those.
  const service = compose(
    [
      await serviceFactories.console(parts),
      await serviceFactories.stats(parts),
      await serviceFactories.router(parts),
      await serviceFactories['script-runner'](parts),
      await serviceFactories.translator(parts),
      await serviceFactories['mcp-aggregator'](parts),
      edge,
    ],
    { logger: parts.logger },
  );
  return { parts, service, port: () => edge.port, run: {} };
}

/** How long the end of the workers may take beyond their own drain. */
const workersStopMs = 3000;

/** The first process: everything but edges, routers and translators, which workers are. */
async function withWorkers(
  config: Config,
  announce: Announce,
  { workers, argv, settings }: { workers: number; argv: string[]; settings: NodeJS.ProcessEnv },
): Promise<Composed> {
  // Nobody else may reach it, and the name of a socket has to be short.
  const folder = mkdtempSync(join(tmpdir(), 'model-gateway-'));
  process.on('exit', () => {
    supervisor?.killLate();
    rmSync(folder, { recursive: true, force: true });
  });
  const socketPath = join(folder, 'bus');
  const file = new SettingsFile(config.process.configFile, join(folder, 'settings.toml'));
  let supervisor: Supervisor | null = null;
  const parts = await createParts(config, 'gateway', {
    announce,
    bus: ({ logger }) => createHubBus({ path: socketPath, logger, onPeer: (name, present) => supervisor?.onPeer(name, present) }),
  });
  const { logger, metrics, bus } = parts;
  const keeper = new LeaseKeeper();
  bus.serve({ ask: { 'limits.run': (call) => keeper.run(call) } });
  const { port, host } = config.edge;
  const all = new Supervisor({ count: workers, port, host, logger, worker: { socketPath, argv, env: settings }, settings: file });
  supervisor = all;
  const service = compose(
    [
      await serviceFactories.console(parts),
      await serviceFactories.stats(parts),
      await serviceFactories['script-runner'](parts),
      await serviceFactories['mcp-aggregator'](parts),
      all,
    ],
    { logger },
  );
  return {
    parts,
    service,
    port: () => port,
    run: {
      metrics: { text: () => metricsOfAll(metrics, all) },
      onHangUp: () => void all.renew(),
      extraStopMs: workersStopMs,
    },
  };
}

/** A worker that does not answer is left out. */
async function metricsOfAll(own: Parts['metrics'], { workers }: Supervisor): Promise<string> {
  const pages = [...workers].filter((worker) => worker.ready).map(async (worker) => [worker.name, await worker.metrics()] as const);
  const answered = (await Promise.all(pages)).filter((page): page is readonly [string, string] => page[1] !== null);
  return mergeMetrics(new Map([['first', await own.text()], ...answered]));
}
