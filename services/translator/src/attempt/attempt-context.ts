/** What one attempt of one request is made with. */
import type { PlannedNode } from '@model-gateway/contracts';
import type { PlannedAttempt } from '@model-gateway/routing';
import type { PrepareContext } from '../prepare/step.ts';
import type { ReplySink } from '../reply-sink.ts';
import type { AttemptDeps } from './deps.ts';

/** A request and its reply, for all plans and attempts. */
export interface Run extends Pick<PrepareContext, 'request' | 'record'> {
  readonly sink: ReplySink;
  /** The key group refuses translations that lose something. */
  readonly strict: boolean;
  readonly deps: AttemptDeps;
}

/** One attempt: a request on one route, with one key. */
export interface AttemptContext extends Run, PrepareContext {
  readonly planned: PlannedAttempt;
  readonly node: PlannedNode;
}
