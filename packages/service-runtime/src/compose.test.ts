import { describe, expect, test } from '@jest/globals';
import { createLogger } from '@model-gateway/telemetry';
import { compose } from './compose.ts';
import type { Service } from './service.ts';

const logger = createLogger({ level: 'silent', name: 'test' });

function fake(name: string, log: string[], options: { startFails?: boolean; stopFails?: boolean; ready?: boolean } = {}): Service {
  return {
    name,
    async start() {
      if (options.startFails) throw new Error(`${name} cannot start`);
      log.push(`start ${name}`);
    },
    drain: () => void log.push(`drain ${name}`),
    async stop() {
      log.push(`stop ${name}`);
      if (options.stopFails) throw new Error(`${name} cannot stop`);
    },
    health: () => (options.ready === false ? { ready: false, reasons: ['bus'] } : { ready: true, reasons: [] }),
  };
}

describe('compose', () => {
  test('starts in order, stops in reverse', async () => {
    const log: string[] = [];
    const all = compose([fake('a', log), fake('b', log), fake('c', log)], { logger });
    await all.start();
    all.drain?.();
    await all.stop();
    await all.stop();
    expect(log).toEqual(['start a', 'start b', 'start c', 'drain a', 'drain b', 'drain c', 'stop c', 'stop b', 'stop a']);
  });

  test('a failed start stops what had started and rejects', async () => {
    const log: string[] = [];
    const all = compose([fake('a', log), fake('b', log), fake('c', log, { startFails: true }), fake('d', log)], { logger });
    await expect(all.start()).rejects.toThrow('c cannot start');
    expect(log).toEqual(['start a', 'start b', 'stop b', 'stop a']);
  });

  test('a failed stop does not keep the others from stopping', async () => {
    const log: string[] = [];
    const all = compose([fake('a', log), fake('b', log, { stopFails: true })], { logger });
    await all.start();
    await expect(all.stop()).rejects.toThrow(AggregateError);
    expect(log.slice(-2)).toEqual(['stop b', 'stop a']);
  });

  test('health is ready when all are, and names those that are not', () => {
    const broken: Service = {
      ...fake('x', []),
      health: () => {
        throw new Error('no');
      },
    };
    expect(compose([fake('a', [])], { logger }).health()).toEqual({ ready: true, reasons: [] });
    expect(compose([fake('a', []), fake('b', [], { ready: false }), broken], { logger }).health()).toEqual({ ready: false, reasons: ['b:bus', 'x:health'] });
  });
});
