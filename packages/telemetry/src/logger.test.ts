import { describe, expect, test } from '@jest/globals';
import { createLogger } from './logger.ts';

function capture(level: 'debug' | 'info' = 'info') {
  const lines: string[] = [];
  const logger = createLogger({ level, name: 'test', destination: { write: (line) => lines.push(line) } });
  return { logger, lines, last: () => JSON.parse(lines.at(-1) as string) };
}

describe('logger', () => {
  test('writes one JSON line with level, name, time and fields', () => {
    const { logger, lines, last } = capture();
    logger.info({ status: 200, model: 'm' }, 'request');
    expect(lines[0]?.endsWith('\n')).toBe(true);
    expect(last()).toMatchObject({ level: 'info', name: 'test', status: 200, model: 'm', msg: 'request' });
    expect(Date.parse(last().time)).toBeGreaterThan(0);
  });

  test('line breaks and control characters cannot forge a line', () => {
    const { logger, lines, last } = capture();
    logger.warn({ path: '/a\r\n{"level":"fatal"}\u001b[2J\u0085\u202e' }, 'x\ny');
    expect(lines).toHaveLength(1);
    expect(lines[0]?.trimEnd()).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    expect(last().msg).toBe('x\ny');
  });

  test('levels below the chosen one write nothing', () => {
    const { logger, lines } = capture();
    logger.debug('no');
    expect(logger.enabled('debug')).toBe(false);
    expect(lines).toHaveLength(0);
  });

  test('errors carry stack and causes, redacted', () => {
    const { logger, lines, last } = capture();
    logger.redactor.add('live-secret-1');
    logger.error({ error: new Error('outer live-secret-1', { cause: new TypeError('inner', { cause: 'Bearer abcdefgh' }) }) }, 'failed');
    expect(lines[0]).not.toContain('live-secret-1');
    expect(last().error.stack).toContain('logger.test');
    expect(last().error.cause).toMatchObject({ type: 'TypeError', message: 'inner', cause: 'Bearer [redacted]' });
  });

  test('a cause that points back to itself ends', () => {
    const { logger, lines } = capture();
    const error = new Error('loop');
    error.cause = error;
    logger.error({ error }, 'x');
    expect(lines).toHaveLength(1);
  });

  test('strings are cut at 2 kB and a secret across the cut does not show', () => {
    const { logger, lines, last } = capture();
    const secret = 'Z'.repeat(300);
    logger.redactor.add(secret);
    logger.info({ text: 'a'.repeat(2000) + secret + 'b'.repeat(5000) }, 'x');
    expect(last().text.length).toBeLessThan(2200);
    expect(lines[0]).not.toContain('ZZZ');
  });

  test('named secrets, bytes and objects with behaviour are not written', () => {
    const { logger, last } = capture();
    const deep: Record<string, unknown> = {};
    deep['self'] = deep;
    logger.info({ authorization: 'xyz', headers: { cookie: 'a=b', accept: 'c' }, body: Buffer.from('abc'), url: new URL('http://h/'), deep }, 'x');
    expect(last()).toMatchObject({ authorization: '[redacted]', headers: { cookie: '[redacted]', accept: 'c' }, body: '[3 bytes]', url: '[URL]' });
  });

  test('children carry their fields', () => {
    const { logger, last } = capture();
    logger.child({ service: 'edge' }).child({ request: 'r1' }).info('hello');
    expect(last()).toMatchObject({ service: 'edge', request: 'r1', msg: 'hello' });
  });
});
