/** `--demo`: a built-in upstream, priced models and three teams whose agents work, configured through the same API that everyone uses. */
import { randomBytes } from 'node:crypto';
import type { ConsoleConfig } from '@model-gateway/config';
import { runAgents } from './agents.ts';
import { demoAgents, demoConfiguration, demoModel } from './configuration.ts';
import { demoText } from './print.ts';
import { demoProtocol, startDemoUpstream } from './upstream.ts';

/** A database that is thrown away, credentials that are made up where the operator gives none, and an upstream that may be on this machine. */
export const demoEnvironment = (env: NodeJS.ProcessEnv, folder: string): NodeJS.ProcessEnv => ({
  CONSOLE_SECRET_KEY: randomBytes(24).toString('base64url'),
  CONSOLE_PASSWORD: randomBytes(12).toString('base64url'),
  LOG_LEVEL: 'fatal',
  ...Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')),
  OUTBOUND_PRIVATE: 'allow',
  DATA_DIR: folder,
  STORAGE_MODE: 'sqlite',
});

export async function startDemo(base: string, { secretKey, password }: Pick<ConsoleConfig, 'secretKey' | 'password'>): Promise<void> {
  const upstream = await startDemoUpstream(new URL(base).hostname === '[::1]' ? '::1' : '127.0.0.1');
  const call = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${base}/console/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`the demo could not be set up: ${path} gave ${response.status}: ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  await call('POST', 'import', demoConfiguration(demoProtocol.id, upstream.url));
  const keys = new Map<string, string>();
  for (const name of ['demo', ...demoAgents.map(({ accessKey }) => accessKey)])
    keys.set(name, String((await call('GET', `access-keys/${name}/api-key`))['key']));
  const key = keys.get('demo') ?? '';
  await ready(base, key);
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stopped.abort());
  void runAgents(base, keys, stopped.signal);
  process.stdout.write(demoText(base, { key, model: demoModel, password }));
}

/** The catalog reaches the edge a moment after the write. */
async function ready(base: string, key: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const response = await fetch(`${base}/v1/models/${demoModel}`, { headers: { authorization: `Bearer ${key}` } });
    if (response.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
