/** What comes in as a job and is none: the stream ends, and the process goes on. */
import { expect, test } from '@jest/globals';
import type { ServerStream } from '@model-gateway/bus';
import type { GatewayError } from '@model-gateway/contracts/errors';
import { serveRun } from '../src/run.ts';
import type { RunDeps } from '../src/run-deps.ts';

test('a job that is no job fails its stream and rejects nothing', async () => {
  for (const job of [null, undefined, 7, {}, { id: 1 }, { id: 'x', plan: null }, { id: 'x', plan: { model: 'm' }, clientProtocol: 'alpha', places: null }]) {
    const logged: string[] = [];
    const deps = { logger: { error: (_fields: unknown, message: string) => void logged.push(message) } } as unknown as RunDeps;
    const failed = await new Promise<GatewayError>((resolve) => {
      const stream = { id: 's', fail: resolve } as unknown as ServerStream<'translator.run'>;
      serveRun(job as never, new Uint8Array(0), stream, deps);
    });
    expect(failed).toMatchObject({ code: 'internal' });
    expect(logged).toEqual(['defect in the translator']);
  }
});
