/** The end of a task: its row, and what is kept of it. */
import type { Bus } from '@model-gateway/bus';
import { newRequestRow, type RequestRow, type TaskFacts } from '@model-gateway/contracts';
import type { Logger } from '@model-gateway/telemetry';
import { askTasks } from './ask-tasks.ts';
import type { UpstreamAnswer } from './deps.ts';

/** What ending a task uses. */
export interface EndTaskDeps {
  readonly bus: Bus;
  readonly logger: Logger;
}

/** Upstreams forget a task after a day. Before that, one that they do not find may only not have reached all of their servers. */
export const forgottenMs = 24 * 3_600_000;

const hasEnded = (status: UpstreamAnswer['status'], createdAt: number): status is Exclude<UpstreamAnswer['status'], 'running'> =>
  status !== 'running' && (status !== 'lost' || Date.now() - createdAt >= forgottenMs);

/**
 * Resolves with whether the task has ended. Several processes may see the end at once: the row has the task's id, so that it is stored once. It is published before the task counts as ended: a process
 * that dies in between leaves a task that is polled again.
 */
export async function endTask(
  task: TaskFacts,
  { status, usage, text }: Pick<UpstreamAnswer, 'status' | 'usage' | 'text'>,
  { bus }: EndTaskDeps,
): Promise<boolean> {
  if (!hasEnded(status, task.createdAt)) return false;
  // Nothing was made of a task that failed, or is not known any more.
  await bus.publishDurable('stats.request', task.id, rowOf(task, status, usage));
  await askTasks(bus, { kind: 'end', owner: task.owner, id: task.id, status, reply: text });
  return true;
}

function rowOf({ id, at, createdAt, request }: TaskFacts, status: Exclude<UpstreamAnswer['status'], 'running'>, usage: UpstreamAnswer['usage']): RequestRow {
  return newRequestRow({
    id,
    kind: 'task',
    of: request.id,
    client_request_id: request.clientRequestId,
    // Counted when the call was made.
    started_at: createdAt,
    authority: 2,
    access_key: request.accessKey,
    key_group: request.keyGroup,
    model: at.model,
    requested_model: request.requestedModel,
    upstream: at.upstream,
    upstream_model_id: request.upstreamModelId,
    client_protocol: request.clientProtocol,
    upstream_protocol: request.upstreamProtocol,
    status: 200,
    error_code: status === 'succeeded' ? null : `task_${status}`,
    client_ip: request.clientIp,
    user_agent: request.userAgent,
    session_id: request.sessionId,
    duration_ms: Math.max(0, Date.now() - createdAt),
    ...(usage && {
      usage_source: 'upstream',
      input_tokens: usage.input,
      output_tokens: usage.output,
      images: usage.images ?? null,
      seconds: usage.seconds ?? null,
      characters: usage.characters ?? null,
    }),
  });
}
