/** tiktoken in a worker thread: its tables take 1.5 s and 90 MB to load, so it starts on first need and never blocks a request. */
import { Worker } from 'node:worker_threads';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { ModelFamily } from '@model-gateway/model-catalog';

/** Counts tokens in a worker thread. */
export interface TokenCounter {
  /** `tokenizer`: the table of the model's family. Rejects when the worker cannot run. */
  count(text: string, tokenizer?: ModelFamily['tokenizer']): Promise<number>;
  close(): Promise<void>;
}

/** How long the worker stays loaded without work, in ms. */
const idleMs = 10 * 60_000;

export function createTokenCounter(): TokenCounter {
  let worker: Worker | undefined;
  let next = 0;
  const waiting = new Map<number, { resolve(tokens: number): void; reject(error: Error): void }>();
  let idle: NodeJS.Timeout | undefined;

  const stop = async (): Promise<void> => {
    clearTimeout(idle);
    const gone = worker;
    worker = undefined;
    await gone?.terminate();
  };

  const start = (): Worker => {
    const started = new Worker(new URL(`./worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url));
    started.unref();
    started.on('message', ({ id, tokens }: { id: number; tokens: number }) => {
      waiting.get(id)?.resolve(tokens);
      waiting.delete(id);
    });
    started.on('error', (cause) => failAll(started, cause));
    started.on('exit', () => failAll(started, new Error('the token counter stopped')));
    return started;
  };

  const failAll = (from: Worker, cause: Error): void => {
    if (worker === from) worker = undefined;
    for (const { reject } of waiting.values()) reject(new GatewayError('internal', { cause }));
    waiting.clear();
  };

  return {
    count: (text, tokenizer = 'o200k_base') =>
      new Promise((resolve, reject) => {
        worker ??= start();
        const id = next++;
        waiting.set(id, { resolve, reject });
        worker.postMessage({ id, text, tokenizer });
        clearTimeout(idle);
        idle = setTimeout(() => void stop(), idleMs).unref();
      }),
    close: stop,
  };
}
