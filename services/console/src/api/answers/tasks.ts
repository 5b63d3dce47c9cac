/** Answers about tasks of upstreams. */
import { taskStatuses } from '@model-gateway/contracts';
import { z } from 'zod';
import { cursorPageOf, instant, maybeText, text } from './common.ts';

const task = z.strictObject({
  id: text,
  /** `lost`: the upstream does not know it any more. */
  state: z.enum(taskStatuses),
  created_at: instant,
  /** When it is forgotten. */
  expires_at: instant,
  /** Name of the access key that began it. */
  access_key: text,
  key_group: text,
  /** Canonical name of the model that serves it, and the name that its caller used. */
  model: text,
  requested_model: text,
  upstream: text,
  upstream_model_id: maybeText,
  /** The upstream's own name for it: by this its vendor is asked about it. */
  upstream_task: text,
  /** Id of the request that began it; the row of its end has the task's own id. */
  request_id: text,
  /** The upstream, its key or the model that took it is not configured any more: nobody can ask about it, or cancel it. */
  account_gone: z.boolean(),
});

export const taskPage = cursorPageOf(task);
