/** The calls by which an admin tests a model. */
import type { Operation, StreamForm } from '@model-gateway/contracts';

/** What the admin's test call should do. */
export interface TestCallContext {
  model: string;
  stream: boolean;
  prompt: string;
  /** The admin's own body; the model's name and the wish for a stream are set in it. */
  body: Readonly<Record<string, unknown>> | null;
}

/** Request by which an admin tests a model, in one client protocol. */
export interface TestCall {
  path: string;
  /** Without `?`. */
  query: string;
  streamForm: StreamForm;
  body: Record<string, unknown>;
  /** The call is a form: the fields of `body` as text, and the admin's file under this name. Absent: JSON. */
  fileField?: string;
}

/** Absent: not tested by this protocol. Example: `testCalls.generate({ model, stream: true, prompt: 'hi', body: null })` gives path and body of the shortest call. */
export interface ClientTestCall {
  /** Calls of this protocol for an admin who tests a model, by operation: his body, or the prompt in the shortest body that works. The first is the usual one. */
  testCalls?: Partial<Record<Operation, (test: TestCallContext) => TestCall>>;
}
