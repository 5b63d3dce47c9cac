/** Trying a model: what it can be asked for, and a real call of it. */
import { modelName, operations } from '@model-gateway/contracts';
import { realtimePaths } from '@model-gateway/protocols';
import type { Response } from 'express';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { servedOperations } from '../probes/served-operations.ts';
import { type ModelTest, type ModelTestResult, testModel } from '../probes/test-model.ts';
import { type TestedCall, type TestFile, testedCalls } from '../probes/tested-calls.ts';
import { invalid, invalidField } from '../problem.ts';
import { readInput } from '../validation/read-input.ts';
import { modelOperations, modelTest } from './answers/routing.ts';
import { base, type Route } from './route.ts';

type Body = Record<string, unknown>;

const defaultPrompt = 'Say hello.';
/** Of base64: what fits a body of this API beside its other fields. */
const maxFileText = 15 * 1024 * 1024;
/** `body`, or the fields of one beside the rest, with or without a `prompt`: shaped by the client's protocol either way. */
const testSchema = z.looseObject({
  model: modelName,
  client_protocol: z.string().max(64).optional(),
  /** Default: the usual one of the client's protocol; without one, the usual protocol of the operation. */
  operation: z.enum(operations).optional(),
  stream: z.boolean().optional(),
  /** Not beside the fields that hold the text of the call. Default: a short greeting. */
  prompt: z.string().min(1).max(100_000).optional(),
  body: z.record(z.string(), z.json()).nullable().default(null),
  /** Of calls that are about a file. `data` is base64. */
  file: z.strictObject({ name: z.string().min(1).max(200), content_type: z.string().max(200).optional(), data: z.string().min(1).max(maxFileText) }).optional(),
});

const operationsQuery = z.strictObject({ model: modelName });

/** Throws 422. */
function pickCall(protocol: string | undefined, operation: TestedCall['operation'] | undefined): TestedCall {
  const spoken = testedCalls.filter((one) => protocol === undefined || one.protocol.id === protocol);
  if (spoken.length === 0) throw invalidField('client_protocol', `is not one of ${[...new Set(testedCalls.map((one) => one.protocol.id))].join(', ')}`);
  const found = operation === undefined ? spoken[0] : spoken.find((one) => one.operation === operation);
  if (!found) throw invalidField('operation', `is not one of ${[...new Set(spoken.map((one) => one.operation))].join(', ')}`);
  return found;
}

/** The body that a prompt makes; the model's name and the wish for a stream are set later. */
function bodyOfPrompt({ write }: TestedCall, prompt: string): Body {
  const { model: _model, stream: _stream, ...body } = write({ model: '', stream: false, prompt, body: null }).body;
  return body;
}

/** Where a call says its text: what differs with the prompt. */
function textFieldsOf(call: TestedCall): string[] {
  const [one, other] = [bodyOfPrompt(call, '1'), bodyOfPrompt(call, '2')];
  return Object.keys(one).filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]));
}

/**
 * Unknown fields of a test are the body of its call when they hold the text; else they override fields of the body built from the prompt. null: the prompt alone.
 * Throws 422, also when there is no prompt and none of the fields belongs to such a call: one may be a misspelt `prompt`.
 */
function bodyOfTest(body: Body | null, beside: Body, prompt: string | undefined, call: TestedCall): Body | null {
  const names = Object.keys(beside);
  if (names.length === 0) return body;
  const holds = (name: string): boolean => Object.hasOwn(beside, name);
  if (body === null && prompt !== undefined) {
    // Of any call: the text would be in the body twice.
    const text = testedCalls.flatMap(textFieldsOf).find(holds);
    if (text !== undefined) throw invalidField('prompt', `and ${text} both hold the text of the call: give one`);
    return { ...bodyOfPrompt(call, prompt), ...beside };
  }
  if (body === null && textFieldsOf(call).some(holds)) return beside;
  const made = bodyOfPrompt(call, defaultPrompt);
  if (body === null && Object.keys(made).some(holds)) return { ...made, ...beside };
  throw invalid(names.slice(0, 20).map((name) => ({ field: name.slice(0, 100), message: 'is not a known field' })));
}

/** Throws 422. */
function fileOfTest(file: z.output<typeof testSchema>['file'], { takesFile }: TestedCall): TestFile | null {
  if (file === undefined && !takesFile) return null;
  if (file === undefined) throw invalidField('file', 'is needed by this operation');
  if (!takesFile) throw invalidField('file', 'is not taken by this operation');
  const bytes = Buffer.from(file.data, 'base64');
  if (bytes.length === 0) throw invalidField('file.data', 'is not base64');
  return { name: file.name, contentType: file.content_type || 'application/octet-stream', bytes };
}

function readTest(given: unknown): ModelTest {
  const { model, client_protocol, operation, stream, prompt, body: own, file, ...beside } = readInput(testSchema, given);
  const call = pickCall(client_protocol, operation);
  const body = bodyOfTest(own, beside, prompt, call);
  const streams = stream ?? body?.['stream'] === true;
  if (streams && call.operation !== 'generate') throw invalidField('stream', 'only conversations are tested as streams');
  return { model, call, prompt: prompt ?? defaultPrompt, body, file: fileOfTest(file, call), stream: streams };
}

/** Aborted when the tester leaves before the answer. */
function leavingOf(response: Response): AbortSignal {
  const left = new AbortController();
  response.once('close', () => left.abort());
  return left.signal;
}

/** The same test as events: `data` with the reply's bytes as they come (JSON strings), `result` with what the plain answer is. */
async function answerStreamed(test: ModelTest, response: Response, context: ConsoleContext): Promise<void> {
  const signal = leavingOf(response);
  response.status(200).set({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' }).flushHeaders();
  const decoder = new TextDecoder();
  const say = (event: string, value: unknown) => response.write(`event: ${event}\ndata: ${JSON.stringify(value)}\n\n`);
  const result = await testModel(test, { data: (piece) => say('data', decoder.decode(piece, { stream: true })), signal }, context);
  if (signal.aborted) return;
  say('result', result);
  response.end();
}

export const modelTestRoutes = (context: ConsoleContext): Route[] => [
  {
    method: 'get',
    path: `${base}/route/operations`,
    operationId: 'read_model_operations',
    summary: 'What a model or load balancer can be asked for, and how a test asks it',
    tag: 'routing',
    query: operationsQuery,
    status: 200,
    answer: modelOperations,
    failures: [404],
    async handle(request, response) {
      const { model } = readInput(operationsQuery, request.query);
      const served = await servedOperations(model, context);
      const items = testedCalls
        .filter(({ operation }) => served.has(operation))
        .map(({ operation, protocol, takesFile }) => ({ operation, client_protocol: protocol.id, takes_file: takesFile }));
      // Not by a test of one call: the console opens a session, as a client does.
      if (served.has('realtime')) items.push({ operation: 'realtime', client_protocol: realtimePaths[0]!.protocol.id, takes_file: false });
      response.json({ model, items });
    },
  },
  {
    method: 'post',
    path: `${base}/models/test`,
    operationId: 'test_model',
    summary: 'One real call of a model or load balancer, and what the translation made of it',
    tag: 'models',
    body: testSchema,
    status: 200,
    answer: modelTest,
    answerTypes: ['text/event-stream'],
    async handle(request, response) {
      const test = readTest(request.body);
      // A list of both, as fetch sends by default, means the plain answer.
      if (request.get('accept') === 'text/event-stream') {
        if (test.call.operation !== 'generate') throw invalidField('operation', 'only conversations are answered as events');
        return answerStreamed(test, response, context);
      }
      const signal = leavingOf(response);
      const result: ModelTestResult = await testModel(test, { signal }, context);
      if (!signal.aborted) response.json(result);
    },
  },
];
