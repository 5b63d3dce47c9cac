/** A nats-server of our own, when one is installed. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { freePorts, type Running, start, until } from '../spawn.ts';

const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];

export async function startNats(scratch: string): Promise<{ url: string; running: Running }> {
  const binary = folders.map((folder) => join(folder, 'nats-server')).find((file) => existsSync(file));
  if (binary === undefined) throw new Error('nats-server is not installed');
  const [port, monitor] = await freePorts(2);
  const running = start(binary, ['-a', '127.0.0.1', '-p', String(port), '-m', String(monitor), '-js', '-sd', join(scratch, 'jetstream')]);
  await until('nats-server', [running], async () => (await fetch(`http://127.0.0.1:${monitor}/healthz`)).ok);
  return { url: `nats://127.0.0.1:${port}`, running };
}
