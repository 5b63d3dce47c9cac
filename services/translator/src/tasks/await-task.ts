/** Waits for a task that one call began, for a caller who gets its answer at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskFacts } from '@model-gateway/contracts';
import { GatewayError, isGatewayError } from '@model-gateway/contracts/errors';
import type { UpstreamTaskCodec } from '@model-gateway/protocols';
import type { CurrentRequest } from '../request/current.ts';
import { factsOf, noteTask } from './begin-task.ts';
import type { BeginTaskDeps, UpstreamAnswer } from './deps.ts';

/** Between two looks: a short recording takes a second, an image ten and more. */
const firstPauseMs = 500;
const maxPauseMs = 3_000;
/** A task that was just begun may not be known to all servers of its upstream. */
const unknownMs = 15_000;
/** Looks that may fail one after the other: the work goes on meanwhile. */
const maxFailures = 4;

export interface TaskWait {
  readonly codec: UpstreamTaskCodec;
  /** How long the task may take. */
  readonly withinMs: number;
}

/**
 * Resolves with what the upstream says of the task when it has ended, whether or not it succeeded; with `body` itself where that names no task. A task
 * whose caller leaves, or that takes too long, is noted as one of the caller's, so that it is billed when it ends.
 */
export async function awaitTask(current: CurrentRequest, body: unknown, { codec, withinMs }: TaskWait, deps: BeginTaskDeps): Promise<unknown> {
  const { cancellation, job } = current.request;
  const task = factsOf(current, codec.readId(body), deps);
  if (!task) return body;
  const began = performance.now();
  let failures = 0;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, maxPauseMs)) {
    await sleep(pauseMs, undefined, { signal: cancellation.signal() }).catch(() => undefined);
    const waited = performance.now() - began;
    if (cancellation.isOver || waited > withinMs) {
      void leave(task, deps);
      cancellation.throwIfOver();
      throw new GatewayError('timeout', { message: `The upstream's task did not end within ${Math.round(withinMs / 1000)} seconds.` });
    }
    const answer = await look(task, deps);
    if (isGatewayError(answer)) {
      failures += 1;
      if (failures < maxFailures) continue;
      void leave(task, deps);
      throw answer;
    }
    failures = 0;
    if (answer.status === 'running' || (answer.status === 'lost' && waited < unknownMs)) continue;
    deps.logger.debug({ request: job.id, task: task.upstreamTask, status: answer.status }, 'a task that was waited for has ended');
    return JSON.parse(answer.text) as unknown;
  }
}

async function look(task: TaskFacts, { ask }: BeginTaskDeps): Promise<UpstreamAnswer | GatewayError> {
  try {
    return await ask(task);
  } catch (error) {
    if (isGatewayError(error)) return error;
    throw error;
  }
}

/** Nobody waits any more: it is stopped where it has not begun, and billed where it has. Never rejects. */
async function leave(task: TaskFacts, deps: BeginTaskDeps): Promise<void> {
  try {
    await deps.cancel(task);
  } catch {
    // What runs cannot be stopped.
  }
  if (task.owner === '') return;
  await noteTask(task, deps).catch((error: unknown) =>
    deps.logger.error({ request: task.request.id, upstream: task.at.upstream, task: task.upstreamTask, error }, 'a task that nobody waits for is not billed'),
  );
}
