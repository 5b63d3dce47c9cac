/** Work that goes on at an upstream after the call that began it, and is asked about later. */
import type { TaskStatus, Usage } from '@model-gateway/contracts';
import type { Target, UpstreamRequest } from './target.ts';

/** What an upstream says of a task. */
export interface TaskReply {
  status: TaskStatus;
  /** Of a task that succeeded; null: it says nothing. */
  usage: Usage | null;
}

/** How a protocol's tasks are begun and asked about. Example: `read({ output: { task_status: 'FAILED' } })` gives `{ status: 'failed', usage: null }`. */
export interface UpstreamTaskCodec {
  /** Whether a call of a service begins a task, by the model's configuration or by what its caller asks. */
  begins(target: Target, headers: Readonly<Record<string, string>>): boolean;
  /** The upstream's name for what was begun; undefined: nothing was, or nothing that can be asked about. */
  readId(body: unknown): string | undefined;
  /** The same body with another id. */
  withId(body: unknown, id: string): unknown;
  /** `action`: absent asks how it goes. */
  request(target: Target, id: string, action?: 'cancel'): UpstreamRequest;
  read(body: unknown): TaskReply;
}

/** Absent: an upstream of this protocol has no tasks. */
export interface UpstreamTasks {
  tasks?: UpstreamTaskCodec;
}
