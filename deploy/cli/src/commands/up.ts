/** `model-gateway up`: the whole gateway in one process, on embedded defaults. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, loadConfig } from '@model-gateway/config';
import { compose } from '@model-gateway/service-runtime';
import { demoEnvironment, startDemo } from '../demo/demo.ts';
import { keyringOf, prepareKeyFiles } from '../key-files.ts';
import { ownAddress } from '../own-address.ts';
import { createParts } from '../parts.ts';
import { serviceFactories } from '../services.ts';
import { runService } from './run.ts';

export async function up(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const demo = args.includes('--demo');
  const argv = args.filter((arg) => arg !== '--demo');
  const folder = demo ? mkdtempSync(join(tmpdir(), 'model-gateway-demo-')) : null;
  if (folder !== null) process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const config = loadConfig({ env: folder === null ? env : demoEnvironment(env, folder), argv });
  if (config.process.natsUrls !== null)
    throw new ConfigError('NATS_URL is set, but `up` is the gateway in one process with its own bus; accepted: unset it, or use `serve`');
  prepareKeyFiles(config);
  // A key that cannot be used is said before anything listens.
  keyringOf(config);
  // Notices of the console before the gateway listens are printed after the line with its address.
  const notices: string[] = [];
  let listening = false;
  const parts = await createParts(config, 'gateway', (text) => (listening ? void process.stdout.write(text) : void notices.push(text)));
  const edge = serviceFactories.edge(parts);
  // The console first: all others read the configuration from it. Statistics before the services that publish to them, so that they also stop after those.
  const service = compose(
    [
      serviceFactories.console(parts),
      serviceFactories.stats(parts),
      serviceFactories.router(parts),
      serviceFactories['script-runner'](parts),
      serviceFactories.translator(parts),
      serviceFactories['mcp-aggregator'](parts),
      edge,
    ],
    { logger: parts.logger },
  );
  await runService(service, parts);
  if (!service.health().ready && edge.port === 0) return;
  const base = ownAddress({ host: config.edge.host, port: edge.port });
  if (demo) return startDemo(base, config.console);
  process.stdout.write(`The gateway listens on ${base}. Its console is at ${base}/console.\n`);
  listening = true;
  for (const text of notices) process.stdout.write(text);
}
