/** Tasks of upstreams: work that goes on after the call that began it, of all callers. */
import { taskStatuses } from '@model-gateway/contracts';
import { z } from 'zod';
import { actorNameOf, auditOf } from '../audit/audit-of.ts';
import type { ConsoleContext } from '../context.ts';
import { Problem } from '../problem.ts';
import { cancelTask } from '../tasks/cancel-task.ts';
import { readTasks, type ShownTask } from '../tasks/list-tasks.ts';
import { readInput } from '../validation/read-input.ts';
import { isoTime } from './answers/iso-time.ts';
import { taskPage } from './answers/tasks.ts';
import { cursorPage, sizeOf } from './instant.ts';
import { maybeText } from './list-query.ts';
import { base, parameter, type Route } from './route.ts';

const taskQuery = z.object({
  state: z.enum(['', ...taskStatuses]).optional(),
  access_key: maybeText(200),
  model: maybeText(200),
  /** Id of the request that began it. */
  request: maybeText(200),
  id: maybeText(200),
  account_gone: z.enum(['', 'true', 'false']).optional(),
  ...cursorPage(200),
});

export function taskRoutes(context: ConsoleContext): Route[] {
  const { storage, audit } = context;
  return [
    {
      method: 'get',
      path: `${base}/tasks`,
      operationId: 'list_tasks',
      summary: 'Tasks of upstreams, newest first: those that run, and what became of the others; kept for a week',
      tag: 'logs',
      query: taskQuery,
      status: 200,
      answer: taskPage,
      async handle(request, response) {
        const { state, access_key, account_gone, model, request: began, id, cursor, ...size } = readInput(taskQuery, request.query);
        const query = { status: state || undefined, accessKey: access_key, model, request: began, id, cursor, limit: sizeOf(size) };
        const { items, nextCursor } = await readTasks({ ...query, ...(account_gone && { accountGone: account_gone === 'true' }) }, context);
        response.json({ items: items.map(showTask), next_cursor: nextCursor });
      },
    },
    {
      method: 'delete',
      path: `${base}/tasks/{id}`,
      operationId: 'cancel_task',
      summary: 'Ask the upstream to stop a task, which many do only before it has begun; the asking is audited',
      tag: 'logs',
      status: 204,
      failures: [400, 404, 409, 410, 502, 503],
      async handle(request, response) {
        const id = parameter(request, 'id');
        const [found] = (await readTasks({ id, limit: 1 }, context)).items;
        if (!found) throw new Problem('not_found', 'There is no task of this id.');
        const { task, facts } = found;
        if (task.status !== 'running') throw new Problem('conflict', 'The task has ended.');
        await cancelTask(facts, context);
        // Its end is seen at once, instead of when it would be looked at next.
        await storage.tasks.setDue(task.owner, id, Date.now());
        const diff = { access_key: facts.request.accessKey, model: facts.at.model, upstream: facts.at.upstream };
        await audit({ ...auditOf(request, actorNameOf(response)), action: 'cancel', entity_type: 'task', entity_id: id, diff });
        response.status(204).end();
      },
    },
  ];
}

const showTask = ({ task, facts: { at, upstreamTask, request }, accountGone }: ShownTask): z.output<typeof taskPage>['items'][number] => ({
  id: task.id,
  state: task.status,
  created_at: isoTime(task.createdAt),
  expires_at: isoTime(task.expiresAt),
  access_key: request.accessKey,
  key_group: request.keyGroup,
  model: at.model,
  requested_model: request.requestedModel,
  upstream: at.upstream,
  upstream_model_id: request.upstreamModelId,
  upstream_task: upstreamTask,
  request_id: request.id,
  account_gone: accountGone,
});
