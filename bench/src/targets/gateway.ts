/** This gateway, in one process and as services on NATS, configured through its own console API. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { holdsMasterKey } from '@model-gateway/contracts';
import { bundle } from '../bundle.ts';
import { makeBody } from '../driver/bodies.ts';
import { freePorts, type Running, startNode, until } from '../spawn.ts';
import { startNats } from './nats.ts';
import { dialectOf, type Endpoint, type Passage, pathOf, type StartTarget, type Target, type TargetName } from './target.ts';

const probe = join(import.meta.dirname, '../../servers/stall-probe.mjs');
/** Those of `npm start` and the image: what the environment says, and Node's flags. */
const surroundings = JSON.parse(readFileSync(join(import.meta.dirname, '../../../deploy/images/environment.json'), 'utf8')) as Record<string, string>;
const options = JSON.parse(readFileSync(join(import.meta.dirname, '../../../deploy/images/node-flags.json'), 'utf8')) as string[];
const services = ['console', 'stats', 'router', 'translator', 'edge'] as const;

export const startEmbedded: StartTarget = (upstream, scratch) => startOneProcess('embedded', upstream, scratch, []);

/** The same, asked to keep every reply. */
export const startEmbeddedStored: StartTarget = (upstream, scratch) => startOneProcess('embedded-stored', upstream, scratch, []);

export const startEmbeddedProbed: StartTarget = (upstream, scratch) =>
  startOneProcess('embedded-probed', upstream, scratch, ['--import', probe], { STALL_FILE: join(scratch, 'stalls') });

/** `nodeOptions` come before the entry, e.g. `--cpu-prof`. `entry`: what is run, the bundle unless said otherwise. */
export async function startOneProcess(
  name: TargetName,
  upstream: string,
  scratch: string,
  nodeOptions: readonly string[],
  extra: Record<string, string> = {},
  entry = bundle(join(scratch, '../bundle')),
): Promise<Target> {
  const { env, base, secret } = await settings(scratch);
  const running = startNode([...options, ...nodeOptions, entry, 'up'], { env: { ...env, ...extra } });
  return finish(name, base, secret, upstream, [running], [running]);
}

export const startSplit: StartTarget = (upstream, scratch) => startServices('split', upstream, scratch);

/** Edge, router and translator in one process, the rest on NATS. */
export const startDataPlane: StartTarget = (upstream, scratch) => startServices('data-plane', upstream, scratch, ['console', 'stats', 'data-plane']);

export const startSplitStored: StartTarget = (upstream, scratch) => startServices('split-stored', upstream, scratch);

/** A gateway without any configuration, and what its console is asked with. */
export interface BareGateway {
  base: string;
  secret: string;
  /** Of all of its processes, the bus among them. */
  pids: number[];
  stop(): Promise<void>;
}

/** `split`: the services that a call at `/mcp` passes, on NATS; otherwise one process. */
export const startForTools = (split: boolean, scratch: string): Promise<BareGateway> =>
  startBare(split ? ['console', 'stats', 'edge', 'mcp-aggregator'] : null, scratch);

/** `split`: all but the one of tools, on NATS; otherwise one process. */
export const startForSessions = (split: boolean, scratch: string): Promise<BareGateway> => startBare(split ? services : null, scratch);

/** `apart`: services on NATS; null: one process. */
async function startBare(apart: readonly string[] | null, scratch: string): Promise<BareGateway> {
  const { env, base, secret } = await settings(scratch);
  const entry = bundle(join(scratch, '../bundle'));
  const nats = apart ? await startNats(scratch) : undefined;
  const running = nats && apart ? await startEach(apart, { ...env, NATS_URL: nats.url }, entry) : [];
  if (!nats) running.push(startNode([...options, entry, 'up'], { env }));
  const all = [...(nats ? [nats.running] : []), ...running];
  const stop = async (): Promise<void> => void (await Promise.all(all.map((one) => one.stop())));
  try {
    await until('the gateway', running, async () => (await fetch(`${base}/readyz`)).ok, 60_000);
    return { base, secret, pids: all.map(({ pid }) => pid), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startEach(names: readonly string[], shared: Record<string, string>, entry: string): Promise<Running[]> {
  const masterKey = { GATEWAY_MASTER_KEY: randomBytes(32).toString('base64') };
  const running: Running[] = [];
  for (const name of names) {
    const [probes] = await freePorts(1);
    const own = { ...shared, ...(holdsMasterKey(name) && masterKey), PROMETHEUS_PORT: String(probes) };
    running.push(startNode([...options, entry, 'serve', name], { env: own }));
  }
  return running;
}

async function startServices(name: TargetName, upstream: string, scratch: string, names: readonly string[] = services): Promise<Target> {
  const nats = await startNats(scratch);
  const { env, base, secret } = await settings(scratch);
  const running = await startEach(names, { ...env, NATS_URL: nats.url }, bundle(join(scratch, '../bundle')));
  return finish(name, base, secret, upstream, running, [nats.running, ...running]);
}

async function settings(scratch: string): Promise<{ env: Record<string, string>; base: string; secret: string }> {
  const [port, probes] = await freePorts(2);
  const secret = randomBytes(16).toString('hex');
  const file = join(scratch, 'gateway.toml');
  // The defaults would answer 503 at C=256.
  writeFileSync(file, '[server]\nmax_global_concurrency = 4000\n\n[streaming]\nmax_concurrent_streams = 2000\n');
  return {
    base: `http://127.0.0.1:${port}`,
    secret,
    env: {
      ...surroundings,
      PORT: String(port),
      HOST: '127.0.0.1',
      PROMETHEUS_PORT: String(probes),
      CONSOLE_SECRET_KEY: secret,
      DATA_DIR: join(scratch, 'data'),
      CONFIG_FILE: file,
      LOG_LEVEL: 'error',
    },
  };
}

async function finish(name: TargetName, base: string, secret: string, upstream: string, needed: readonly Running[], all: readonly Running[]): Promise<Target> {
  const stop = async (): Promise<void> => void (await Promise.all(all.map((running) => running.stop())));
  try {
    await until(`the gateway (${name})`, needed, async () => (await fetch(`${base}/readyz`)).ok, 30_000);
    const key = await configure(base, secret, upstream);
    const endpoints = endpointsOf(base, key, name.endsWith('-stored'));
    for (const [passage, endpoint] of Object.entries(endpoints)) {
      const { model, store = false } = endpoint;
      const wire = makeBody({ dialect: dialectOf[passage as Passage], size: 64, stream: false, model, store });
      let last = '';
      // The configuration reaches the edge a moment after the write.
      await until(`the gateway's passage ${passage}`, needed, async () => {
        const response = await fetch(endpoint.url, {
          method: 'POST',
          headers: { ...endpoint.headers, 'content-type': 'application/json' },
          body: new Uint8Array(wire),
        });
        last = `${response.status} ${(await response.text()).slice(0, 300)}`;
        return response.ok;
      }).catch((error: Error) => {
        throw new Error(`${error.message} (last answer: ${last})`);
      });
    }
    return { name, endpoints, pids: all.map(({ pid }) => pid), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function configure(base: string, secret: string, upstream: string): Promise<string> {
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${base}/console/api/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`configuring ${path} gave ${response.status}: ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  await post('upstreams', { name: 'mock-openai', protocol: 'alpha', base_url: upstream, api_keys: [{ key: 'sk-mock-openai' }] });
  await post('upstreams', { name: 'mock-anthropic', protocol: 'beta', base_url: upstream, api_keys: [{ key: 'sk-mock-anthropic' }] });
  await post('upstreams', { name: 'mock-responses', protocol: 'alpha_response', base_url: upstream, api_keys: [{ key: 'sk-mock-responses' }] });
  await post('models', { name: 'responses-model', upstream: 'mock-responses', upstream_model_id: 'gpt-4o' });
  await post('models', { name: 'openai-model', upstream: 'mock-openai', upstream_model_id: 'gpt-4o' });
  await post('models', { name: 'anthropic-model', upstream: 'mock-anthropic', upstream_model_id: 'claude-sonnet-4-5' });
  await post('key-groups', { name: 'bench', models: ['*'] });
  return String((await post('access-keys', { name: 'bench', group: 'bench' }))['key']);
}

function endpointsOf(base: string, key: string, store: boolean): Record<Passage, Endpoint> {
  const endpoint = (passage: Passage, model: string): Endpoint => ({
    url: base + pathOf[dialectOf[passage]],
    headers: { authorization: `Bearer ${key}`, ...(dialectOf[passage] === 'anthropic' && { 'anthropic-version': '2023-06-01' }) },
    model,
    store,
  });
  return {
    same: endpoint('same', 'openai-model'),
    'openai-to-anthropic': endpoint('openai-to-anthropic', 'anthropic-model'),
    'anthropic-to-openai': endpoint('anthropic-to-openai', 'openai-model'),
    responses: endpoint('responses', 'responses-model'),
    'responses-to-openai': endpoint('responses-to-openai', 'openai-model'),
    embeddings: endpoint('embeddings', 'openai-model'),
    speech: endpoint('speech', 'openai-model'),
  };
}
