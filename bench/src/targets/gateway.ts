/** This gateway, in one process and as services on NATS, configured through its own console API. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { holdsMasterKey } from '@model-gateway/contracts';
import { bundle } from '../bundle.ts';
import { makeBody } from '../driver/bodies.ts';
import { holdStreams } from '../driver/hold-streams.ts';
import { freePorts, pairCores, type Running, type StartOptions, startNode, until } from '../spawn.ts';
import { startNats } from './nats.ts';
import { dialectOf, type Endpoint, type Passage, pathOf, type StartTarget, type Target, type TargetName } from './target.ts';

const probe = join(import.meta.dirname, '../../servers/stall-probe.mjs');
/** Those of `npm start` and the image: what the environment says, and Node's flags. */
const surroundings = JSON.parse(readFileSync(join(import.meta.dirname, '../../../deploy/images/environment.json'), 'utf8')) as Record<string, string>;
const options = JSON.parse(readFileSync(join(import.meta.dirname, '../../../deploy/images/node-flags.json'), 'utf8')) as string[];
const services = ['console', 'stats', 'router', 'translator', 'edge'] as const;

export const startEmbedded: StartTarget = (upstream, scratch) => startOneProcess('embedded', upstream, scratch);

/** The same, asked to keep every reply. */
export const startEmbeddedStored: StartTarget = (upstream, scratch) => startOneProcess('embedded-stored', upstream, scratch);

export const startEmbeddedProbed: StartTarget = (upstream, scratch) =>
  startOneProcess('embedded-probed', upstream, scratch, { flags: ['--import', probe], env: { STALL_FILE: join(scratch, 'stalls') } });

const startWorkers =
  (name: TargetName, count: number): StartTarget =>
  (upstream, scratch) =>
    startOneProcess(name, upstream, scratch, { args: ['--workers', String(count)], cores: pairCores });
export const startWorkersOne = startWorkers('workers-one', 1);
export const startWorkersTwo = startWorkers('workers-two', 2);

const few: Extent = { keys: 10, models: 10, quietStreams: 1 };
export const startFew: StartTarget = (upstream, scratch) => startOneProcess('few', upstream, scratch, { extent: few });
export const startManyKeys: StartTarget = (upstream, scratch) =>
  startOneProcess('many-keys', upstream, scratch, { extent: { ...few, keys: 20_000, models: 2000 } });
export const startManyStreams: StartTarget = (upstream, scratch) =>
  startOneProcess('many-streams', upstream, scratch, { extent: { ...few, quietStreams: 2000 } });

/** What a gateway has beside what each case needs. */
interface Extent {
  keys: number;
  models: number;
  /** Held open as long as the gateway runs. */
  quietStreams: number;
}

interface ProcessOptions extends StartOptions {
  /** Of Node, e.g. `--cpu-prof`. */
  flags?: readonly string[];
  /** After `up`. */
  args?: readonly string[];
  /** What is run, the bundle unless said otherwise. */
  entry?: string;
  extent?: Extent;
}

export async function startOneProcess(name: TargetName, upstream: string, scratch: string, given: ProcessOptions = {}): Promise<Target> {
  const { flags = [], args = [], entry = bundle(join(scratch, '../bundle')), extent, env: extra, ...start } = given;
  const { env, base, secret } = await settings(scratch);
  const running = startNode([...options, ...flags, entry, 'up', ...args], { ...start, env: { ...env, ...extra } });
  const target = await finish(name, base, secret, upstream, [running], [running]);
  if (!extent) return target;
  try {
    return await extend(target, extent, { base, secret, upstream });
  } catch (error) {
    await target.stop();
    throw error;
  }
}

/** Gives a gateway more keys and models, whose requests come in turn, and streams that say nothing. */
async function extend(target: Target, { keys, models, quietStreams }: Extent, gateway: Gateway): Promise<Target> {
  const list = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));
  const keyOf = (index: number): string => `bench-access-key-${String(index).padStart(6, '0')}`;
  await post(gateway, 'upstreams', {
    ...{ name: 'mock-quiet', protocol: 'alpha', base_url: `${gateway.upstream}/quiet`, api_keys: [{ key: 'sk-mock-quiet' }] },
    timeouts: { idle_ms: 3_600_000 },
  });
  await post(gateway, 'models', { name: 'quiet-model', upstream: 'mock-quiet', upstream_model_id: 'gpt-4o' });
  await post(gateway, 'import', {
    models: list(models, (index) => ({ name: `model-${index}`, upstream: 'mock-openai', upstream_model_id: 'gpt-4o' })),
    access_keys: list(keys, (index) => ({ name: `key-${index}`, key: keyOf(index), group: 'bench' })),
  });
  const same = target.endpoints.same!;
  const callers = list(keys, (index) => ({ headers: { authorization: `Bearer ${keyOf(index)}` }, model: `model-${index % models}` }));
  const inTurn = { ...same, ...callers.at(-1)!, callers };
  await until('the last of all keys', [], async () => (await ask(inTurn, 'same')).ok, 60_000);
  const held = await holdStreams({ ...same, model: 'quiet-model' }, quietStreams);
  return {
    ...target,
    endpoints: { ...target.endpoints, 'in-turn': inTurn },
    lost: () => held.lost(),
    stop() {
      held.close();
      return target.stop();
    },
  };
}

function ask({ url, headers, model, store = false }: Endpoint, passage: Passage): Promise<Response> {
  const body = new Uint8Array(makeBody({ dialect: dialectOf[passage], size: 64, stream: false, model, store }));
  return fetch(url, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body });
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
  writeFileSync(file, '[server]\nmax_global_concurrency = 4000\n\n[streaming]\nmax_concurrent_streams = 4000\n');
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
    await until(`the gateway (${name})`, needed, async () => (await fetch(`${base}/readyz`)).ok, 60_000);
    const key = await configure({ base, secret, upstream });
    const endpoints = endpointsOf(base, key, name.endsWith('-stored'));
    for (const [passage, endpoint] of Object.entries(endpoints)) {
      let last = '';
      // The configuration reaches the edge a moment after the write.
      await until(`the gateway's passage ${passage}`, needed, async () => {
        const response = await ask(endpoint, passage as Passage);
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

/** Where a gateway is asked to change, and what it is asked with. */
interface Gateway {
  base: string;
  secret: string;
  upstream: string;
}

async function post({ base, secret }: Gateway, path: string, body: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${base}/console/api/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`configuring ${path} gave ${response.status}: ${text.slice(0, 1000)}`);
  return JSON.parse(text) as Record<string, unknown>;
}

async function configure(gateway: Gateway): Promise<string> {
  const { upstream } = gateway;
  await post(gateway, 'upstreams', { name: 'mock-openai', protocol: 'alpha', base_url: upstream, api_keys: [{ key: 'sk-mock-openai' }] });
  await post(gateway, 'upstreams', { name: 'mock-anthropic', protocol: 'beta', base_url: upstream, api_keys: [{ key: 'sk-mock-anthropic' }] });
  await post(gateway, 'upstreams', { name: 'mock-responses', protocol: 'alpha_response', base_url: upstream, api_keys: [{ key: 'sk-mock-responses' }] });
  await post(gateway, 'models', { name: 'responses-model', upstream: 'mock-responses', upstream_model_id: 'gpt-4o' });
  await post(gateway, 'models', { name: 'openai-model', upstream: 'mock-openai', upstream_model_id: 'gpt-4o' });
  await post(gateway, 'models', { name: 'anthropic-model', upstream: 'mock-anthropic', upstream_model_id: 'claude-sonnet-4-5' });
  await post(gateway, 'key-groups', { name: 'bench', models: ['*'] });
  return String((await post(gateway, 'access-keys', { name: 'bench', group: 'bench' }))['key']);
}

function endpointsOf(base: string, key: string, store: boolean): Partial<Record<Passage, Endpoint>> {
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
    'embeddings-batch': endpoint('embeddings-batch', 'openai-model'),
    speech: endpoint('speech', 'openai-model'),
  };
}
