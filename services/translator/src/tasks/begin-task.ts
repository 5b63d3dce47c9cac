/** The call that begins a task: its reply names it by an id of the gateway's own, once its owner is noted. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskFacts } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { UpstreamTaskCodec } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import type { RequestContext } from '../request/context.ts';
import type { CurrentRequest } from '../request/current.ts';
import { askTasks } from './ask-tasks.ts';
import type { BeginTaskDeps } from './deps.ts';
import { findAdapter } from './find-adapter.ts';

const idPrefix = 'task_';
/** A task that an upstream has taken is worth some patience with the store, which may be starting anew: pauses between the tries. */
const againAfterMs = [200, 500, 1_000, 2_000, 4_000, 4_000] as const;

/** How the tasks of this attempt are read; null: the call begins none. */
export function taskCodecOf({ job }: Pick<RequestContext, 'job'>, route: Route): UpstreamTaskCodec | null {
  if (job.operation !== 'native') return null;
  const codec = findAdapter(route)?.tasks;
  return codec?.begins(route.target, job.headers) ? codec : null;
}

/** Before anything is sent. Throws 503 where the store could not note whose the task is. */
export async function checkTaskStore({ request }: Pick<CurrentRequest, 'request'>, { bus }: Pick<BeginTaskDeps, 'bus'>): Promise<void> {
  const owner = request.job.accessKeyId;
  if (owner === undefined) throw new GatewayError('invalid_request', { message: 'A task needs an access key that owns it.' });
  await askTasks(bus, { kind: 'find', owner, id: idPrefix });
}

/** The reply's body as its caller gets it. Throws where it names no task, or the store is away. */
export async function beginTask(current: CurrentRequest, codec: UpstreamTaskCodec, bytes: Buffer, deps: BeginTaskDeps): Promise<Buffer> {
  const body = parse(bytes);
  const task = factsOf(current, codec.readId(body), deps);
  // Some services answer at once, whatever was asked for.
  if (!task) return bytes;
  await noteTask(task, deps);
  current.record.began(task.id);
  return Buffer.from(JSON.stringify(codec.withId(body, task.id)), 'utf8');
}

/** What is known of a task that the present attempt has begun; undefined: there is none. */
export function factsOf({ request, record }: CurrentRequest, upstreamTask: string | undefined, { mintId }: BeginTaskDeps): TaskFacts | undefined {
  const at = record.servedBy;
  if (upstreamTask === undefined || !at) return undefined;
  const { job } = request;
  return {
    id: mintId(idPrefix),
    owner: job.accessKeyId ?? '',
    upstreamTask,
    at,
    createdAt: job.startedAt,
    ...(job.reserved && { reserved: job.reserved }),
    request: {
      id: job.id,
      clientRequestId: job.clientRequestId,
      accessKey: job.accessKey,
      keyGroup: job.keyGroup,
      requestedModel: job.requestedModel,
      model: job.plan.model,
      upstreamModelId: record.upstreamModelId,
      clientProtocol: job.clientProtocol,
      upstreamProtocol: record.upstreamProtocol,
      clientIp: job.clientIp,
      userAgent: job.headers['user-agent'] ?? null,
      sessionId: job.sessionId ?? null,
    },
  };
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new GatewayError('upstream_bad_reply', { cause });
  }
}

/** Keeps the task for its owner, who can ask about it, and is billed when it ends. Rejects, with the task cancelled, where the store is away. */
export async function noteTask(task: TaskFacts, deps: BeginTaskDeps): Promise<void> {
  for (const ms of againAfterMs) {
    try {
      return void (await askTasks(deps.bus, { kind: 'add', task }));
    } catch {
      await sleep(ms);
    }
  }
  try {
    await askTasks(deps.bus, { kind: 'add', task });
  } catch (error) {
    await giveBack(task, deps, error);
    throw error;
  }
}

/** Nobody could ask for it, or be billed. Where it runs already, an operator can still find it at the upstream. */
async function giveBack(task: TaskFacts, { logger, cancel }: BeginTaskDeps, cause: unknown): Promise<void> {
  const named = { request: task.request.id, upstream: task.at.upstream, task: task.upstreamTask };
  logger.error({ ...named, error: cause }, 'the owner of a task could not be noted: it is cancelled');
  await cancel(task).catch((error: unknown) => logger.error({ ...named, error }, 'a task that nobody owns could not be cancelled'));
}
