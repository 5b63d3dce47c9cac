/** A pool for suites, and one run in it as a promise. */
import type { ScriptContext, ScriptOutcome } from '@model-gateway/contracts';
import { replaceRanges } from '@model-gateway/json-bytes';
import type { Logger } from '@model-gateway/telemetry';
import { type PoolOptions, ScriptPool } from '../src/index.ts';

export const context: ScriptContext = {
  clientModel: 'fast',
  upstreamModel: 'up-1',
  upstreamName: 'up',
  sourceProtocol: 'alpha',
  targetProtocol: 'beta',
  stream: false,
  headers: { 'x-team': 'blue' },
  query: { trace: '1' },
  requestId: 'r-1',
  clientIp: '10.0.0.1',
  accessKeyName: 'caller',
  accessKeyGroup: 'everyone',
};

const quiet = (): void => undefined;
export const silent = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet } as unknown as Logger;

export interface Answer extends ScriptOutcome {
  /** The body as the script leaves it; undefined when it failed. */
  body: unknown;
  text: string;
}

export interface TestPool {
  pool: ScriptPool;
  run(script: string, body?: unknown, more?: Partial<{ owner: string; canSwitch: boolean; context: ScriptContext }>): Promise<Answer>;
}

export function startPool(options: Partial<PoolOptions> = {}): TestPool {
  const pool = new ScriptPool({ slots: 4, waitMs: 60_000, maxOperations: 2000, memoryLimitMb: 64, timeoutMs: 1000, lazyBody: true, ...options }, silent);
  return {
    pool,
    run: (script, body = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }, { owner = 'test', canSwitch = true, context: given = context } = {}) => {
      const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body), 'utf8');
      return new Promise((resolve) => {
        pool.run({
          owner,
          request: { script, context: given, canSwitch },
          body: bytes,
          done(outcome, texts) {
            const text = outcome.fault ? '' : Buffer.from(replaceRanges(bytes, outcome.places, texts)).toString('utf8');
            resolve({ ...outcome, text, body: outcome.fault ? undefined : JSON.parse(text) });
          },
        });
      });
    },
  };
}

/** `transform` around these statements. */
export const script = (statements: string): string => `function transform(body, context) {\n${statements}\n}`;
