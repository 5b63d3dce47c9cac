/** `--demo`: a built-in upstream, one model and one key, configured through the same API that everyone uses. */
import { randomBytes } from 'node:crypto';
import type { ConsoleConfig } from '@model-gateway/config';
import { demoText } from './print.ts';
import { demoProtocol, startDemoUpstream } from './upstream.ts';

const model = 'demo';

/** A database that is thrown away, credentials that are made up where the operator gives none, and an upstream that may be on this machine. */
export const demoEnvironment = (env: NodeJS.ProcessEnv, folder: string): NodeJS.ProcessEnv => ({
  CONSOLE_SECRET_KEY: randomBytes(24).toString('base64url'),
  CONSOLE_PASSWORD: randomBytes(12).toString('base64url'),
  LOG_LEVEL: 'warn',
  ...Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')),
  OUTBOUND_PRIVATE: 'allow',
  DATA_DIR: folder,
  STORAGE_MODE: 'sqlite',
});

export async function startDemo(base: string, { secretKey, password }: Pick<ConsoleConfig, 'secretKey' | 'password'>): Promise<void> {
  const upstream = await startDemoUpstream(new URL(base).hostname === '[::1]' ? '::1' : '127.0.0.1');
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${base}/console/api/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`the demo could not be set up: ${path} gave ${response.status}: ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  await post('upstreams', { name: 'demo-upstream', protocol: demoProtocol.id, base_url: upstream.url, api_keys: [] });
  await post('models', { name: model, upstream: 'demo-upstream', upstream_model_id: model });
  await post('key-groups', { name: 'demo', models: ['*'] });
  const { key } = await post('access-keys', { name: 'demo', group: 'demo' });
  await ready(base, String(key));
  process.stdout.write(demoText(base, { key: String(key), model, password }));
}

/** The catalog reaches the edge a moment after the write. */
async function ready(base: string, key: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const response = await fetch(`${base}/v1/models/${model}`, { headers: { authorization: `Bearer ${key}` } });
    if (response.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
