/** `--demo`: a built-in upstream, one model and one key, configured through the same API that everyone uses. */
import { consoleSecretOf } from '../key-files.ts';
import type { Parts } from '../parts.ts';
import { demoText } from './print.ts';
import { demoProtocol, startDemoUpstream } from './upstream.ts';

const model = 'demo';

export async function startDemo(parts: Parts, base: string): Promise<void> {
  const upstream = await startDemoUpstream();
  const secret = consoleSecretOf(parts.config);
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${base}/console/api/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`the demo could not be set up: ${path} gave ${response.status}: ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  await post('upstreams', { name: 'demo-upstream', protocol: demoProtocol.id, base_url: upstream.url });
  await post('models', { name: model, upstream: 'demo-upstream', upstream_model_id: model });
  await post('key-groups', { name: 'demo', models: ['*'] });
  const { key } = await post('access-keys', { name: 'demo', group: 'demo' });
  await ready(base, String(key));
  process.stdout.write(demoText(base, String(key), model));
}

/** The catalog reaches the edge a moment after the write. */
async function ready(base: string, key: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const response = await fetch(`${base}/v1/models/${model}`, { headers: { authorization: `Bearer ${key}` } });
    if (response.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
