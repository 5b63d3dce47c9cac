import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createLogger } from '@model-gateway/telemetry';
import { type ProcessHost, type RunProcessOptions, runProcess } from './run-process.ts';
import type { Service } from './service.ts';

function stage(overrides: Partial<Service> = {}, options: Partial<RunProcessOptions> = {}) {
  const lines: string[] = [];
  const log: string[] = [];
  const events = new EventEmitter();
  const exits: number[] = [];
  const host = Object.assign(events, { exit: (code: number) => void exits.push(code) }) as unknown as ProcessHost & EventEmitter;
  const logger = createLogger({ level: 'info', name: 'test', destination: { write: (line) => lines.push(line) } });
  const service: Service = {
    name: 's',
    start: async () => void log.push('start'),
    drain: () => void log.push('drain'),
    stop: async () => void log.push('stop'),
    health: () => ({ ready: true, reasons: [] }),
    ...overrides,
  };
  const run = () => runProcess({ service, logger, host, lameDuckMs: 40, stopMs: 80, ...options });
  return { run, host, exits, lines, log };
}
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** A pause in which something must not happen. */
const nothingFor = sleep;
/** Signals within this time (ms) of one another are one: waits until it is over. */
const pastWindow = (ms: number) => sleep(ms + 20);

describe('runProcess', () => {
  test('a signal drains: not ready, lame duck, stop, exit 0', async () => {
    const described = { onSignal: (signal: string) => void log.push(signal), onStopped: () => void log.push('stopped') };
    const { run, host, exits, log } = stage({}, { ...described, lameDuckMs: 600 });
    const running = await run();
    expect(running.health().ready).toBe(true);
    host.emit('SIGTERM');
    expect(running.health()).toEqual({ ready: false, reasons: ['draining'] });
    await nothingFor(15);
    expect(log).toEqual(['start', 'SIGTERM', 'drain']);
    expect(await running.stop('again')).toBe(0);
    expect(log).toEqual(['start', 'SIGTERM', 'drain', 'stop', 'stopped']);
    expect(exits).toEqual([0]);
    expect(host.listenerCount('SIGTERM')).toBe(0);
  });

  test('a second signal exits at once; the same one handed on by several is one', async () => {
    const { run, host, exits } = stage({ stop: () => new Promise(() => {}) }, { stopMs: 3000 });
    await run();
    host.emit('SIGINT');
    host.emit('SIGINT');
    await nothingFor(50);
    expect(exits).toEqual([]);
    await pastWindow(1000);
    host.emit('SIGINT');
    expect(exits).toEqual([1]);
  });

  test('a stop that hangs is cut at the cap; one that fails exits 1', async () => {
    const hanging = stage({ stop: () => new Promise(() => {}) });
    expect(await (await hanging.run()).stop('test')).toBe(1);
    expect(hanging.lines.join('')).toContain('did not stop in time');
    const failing = stage({ stop: async () => Promise.reject(new Error('stuck')) });
    expect(await (await failing.run()).stop('test')).toBe(1);
    expect(failing.exits).toEqual([1]);
  });

  test('SIGHUP drains as SIGTERM does', async () => {
    const { run, host, exits, log } = stage();
    const running = await run();
    host.emit('SIGHUP');
    expect(await running.stop('again')).toBe(0);
    expect([exits, log]).toEqual([[0], ['start', 'drain', 'stop']]);
  });

  test('the end of the parent drains, and is no second signal', async () => {
    const { run, host, exits, log } = stage();
    const running = await run();
    host.emit('SIGTERM');
    while (!log.includes('drain')) await sleep(1);
    host.emit('disconnect');
    expect(await running.stop('again')).toBe(0);
    expect(exits).toEqual([0]);
    const orphan = stage();
    const left = await orphan.run();
    orphan.host.emit('disconnect');
    expect(left.health().reasons).toContain('draining');
    expect(await left.stop('again')).toBe(0);
  });

  test('a parent that is gone before anybody listens is noticed', async () => {
    const { run, host, exits } = stage();
    Object.assign(host, { connected: false });
    expect(await (await run()).stop('again')).toBe(0);
    expect(exits).toEqual([0]);
  });

  test('defects are logged and exit 1', async () => {
    const { run, host, exits, lines } = stage();
    await run();
    host.emit('uncaughtException', new Error('boom'));
    host.emit('unhandledRejection', new Error('later'));
    expect(exits).toEqual([1, 1]);
    expect(JSON.parse(lines.at(-1) as string)).toMatchObject({ level: 'fatal', error: { message: 'later' } });
  });

  test('a failed start is logged and exits 1', async () => {
    const { run, exits, lines } = stage({ start: async () => Promise.reject(new Error('port taken')) });
    await run();
    expect(exits).toEqual([1]);
    expect(lines.join('')).toContain('port taken');
  });

  test('a real process leaves on SIGTERM with code 0 and its last lines written', async () => {
    const script = `
      const { runProcess } = await import(process.argv[1]);
      const { createLogger } = await import(process.argv[2]);
      const timer = setInterval(() => {}, 1000);
      await runProcess({ logger: createLogger({ level: 'info', name: 'p' }), lameDuckMs: 20, service: { name: 'x', async start() {}, async stop() { clearInterval(timer); }, health: () => ({ ready: true, reasons: [] }) } });
      console.log('ready');`;
    const files = [join(import.meta.dirname, 'run-process.ts'), join(import.meta.dirname, '../../telemetry/src/index.ts')];
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, ...files], { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.on('data', (chunk) => {
      const before = out.includes('ready\n');
      out += chunk;
      if (!before && out.includes('ready\n')) child.kill('SIGTERM');
    });
    const [code] = await once(child, 'close');
    expect(code).toBe(0);
    expect(out).toContain('"msg":"process exits"');
  });
});
