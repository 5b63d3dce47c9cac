/**
 * A vendor of asynchronous tasks with the native API's rules: tasks are begun with a header and no other way, belong to the account that began them, and are
 * unknown to others. Sources: the vendor's API reference, and recordings of `delta/image-synthesis-task`, `delta/task-unknown` and `delta/task-cancel-refused`.
 */
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { type AnsweringServer, answerJson, type Received } from '../support/answering-server.ts';

type Json = Record<string, unknown>;

interface VendorTask {
  key: string;
  model: string;
  output: Json;
  usage?: Json;
  polls: number;
}

export class TaskVendor {
  readonly tasks = new Map<string, VendorTask>();
  /** Keys that the vendor knows. */
  readonly keys: Set<string>;
  /** Upstream ids of models. */
  readonly models: Set<string>;
  /** Asked for a task without knowing it, by another account than its own. */
  foreignPolls = 0;
  /** Upstream ids of tasks that the vendor does not find for now, as in the first moments of some. */
  readonly hidden = new Set<string>();
  /** Answers are packed, whatever was asked for. */
  packs = false;
  /** What was begun is told only then. */
  tells: Promise<unknown> = Promise.resolve();

  constructor(keys: readonly string[], models: readonly string[]) {
    this.keys = new Set(keys);
    this.models = new Set(models);
  }

  serve(server: AnsweringServer): void {
    server.answer = (response, asked) => {
      const { status, body } = this.#answer(asked);
      const text = JSON.stringify({ request_id: randomUUID(), ...body });
      const tell = (): void => {
        if (!this.packs) return answerJson(Buffer.from(text), status)(response, asked);
        response.writeHead(status, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(gzipSync(text));
      };
      if (asked.method === 'POST') void this.tells.then(tell);
      else tell();
    };
  }

  /** The one task that runs, or the newest. */
  get newest(): string {
    return [...this.tasks.keys()].at(-1) ?? '';
  }

  run(id: string): void {
    const task = this.tasks.get(id);
    if (task) task.output = { ...task.output, task_status: 'RUNNING' };
  }

  succeed(id: string, output: Json, usage: Json): void {
    const task = this.tasks.get(id);
    if (task) Object.assign(task, { output: { ...task.output, task_status: 'SUCCEEDED', ...output }, usage });
  }

  fail(id: string, code: string): void {
    const task = this.tasks.get(id);
    if (task) Object.assign(task, { output: { ...task.output, task_status: 'FAILED', code, message: 'refused' } });
  }

  #answer({ method, path, headers, body }: Received): { status: number; body: Json } {
    const key = String(headers.authorization ?? '').replace(/^Bearer /, '');
    if (!this.keys.has(key)) return { status: 401, body: { code: 'InvalidApiKey', message: 'Invalid API-key provided.' } };
    const task = /^\/api\/v1\/tasks\/([^/]+)(\/cancel)?$/.exec(path);
    if (task) return task[2] ? this.#cancel(key, task[1] ?? '') : this.#show(key, task[1] ?? '');
    if (method !== 'POST' || !/^\/api\/v1\/services\/.+\/(?:video|image)-synthesis$/.test(path))
      return { status: 404, body: { code: 'NotFound', message: path } };
    if (headers['x-dashscope-async'] !== 'enable')
      return { status: 403, body: { code: 'AccessDenied', message: 'current user api does not support synchronous calls.' } };
    const { model } = JSON.parse(body.toString()) as { model?: string };
    if (model === undefined || !this.models.has(model)) return { status: 404, body: { code: 'ModelNotFound', message: 'Model can not be found.' } };
    const id = randomUUID();
    this.tasks.set(id, { key, model, output: { task_id: id, task_status: 'PENDING' }, polls: 0 });
    return { status: 200, body: { output: { task_status: 'PENDING', task_id: id } } };
  }

  #own(key: string, id: string): VendorTask | undefined {
    const task = this.tasks.get(id);
    if (task?.key === key && !this.hidden.has(id)) return task;
    if (task?.key !== key) this.foreignPolls++;
    return undefined;
  }

  #show(key: string, id: string): { status: number; body: Json } {
    const task = this.#own(key, id);
    if (!task) return { status: 200, body: { output: { task_id: id, task_status: 'UNKNOWN' } } };
    task.polls++;
    return { status: 200, body: { output: task.output, ...(task.usage && { usage: task.usage }) } };
  }

  #cancel(key: string, id: string): { status: number; body: Json } {
    const task = this.#own(key, id);
    if (task?.output['task_status'] !== 'PENDING')
      return {
        status: 400,
        body: { code: 'UnsupportedOperation', message: `Failed to cancel the task ${id}, please confirm if the task is in PENDING status.` },
      };
    task.output = { ...task.output, task_status: 'CANCELED' };
    return { status: 200, body: {} };
  }
}
