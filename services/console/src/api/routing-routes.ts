/** Looks into routing: the key monitor, how nodes stand, why a request goes where it goes, and a real call of a model. */
import { modelName, resourceName } from '@model-gateway/contracts';
import { clientProtocols as clients, type Protocol } from '@model-gateway/protocols';
import type { Response } from 'express';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { explainWays, readNodes } from '../probes/ask-routers.ts';
import { lookAtKey } from '../probes/explain-key.ts';
import { explainLimits, refuseSpent } from '../probes/explain-limits.ts';
import { monitorKeys } from '../probes/key-monitor.ts';
import { readLimitStatus } from '../probes/limit-status.ts';
import { type ModelTest, testModel } from '../probes/test-model.ts';
import { invalid, invalidField } from '../problem.ts';
import { findBalancer } from '../resources/pins.ts';
import { readInput } from '../validation/read-input.ts';
import { balancerNodes, explanation, keyMonitor, modelTest } from './answers/routing.ts';
import { listQuery, maybeText, toListQuery } from './list-query.ts';
import { base, parameter, type Route } from './route.ts';

const monitorQuery = listQuery.extend({ upstream: maybeText(200) });

const testable = clients.filter((protocol): protocol is ModelTest['protocol'] => protocol.client.testCall !== undefined);
const idsOf = (list: readonly Protocol[]): string => list.map(({ id }) => id).join(', ');

type Body = Record<string, unknown>;
const anyBody = z.record(z.string(), z.json()).nullable().default(null);
const explainSchema = z.strictObject({
  access_key: resourceName,
  model: modelName,
  body: anyBody,
  client_protocol: z.string().max(64).optional(),
});
const defaultPrompt = 'Say hello.';
/** `body`, or the fields of one beside the rest, with or without a `prompt`: shaped by the client's protocol either way. */
const testSchema = z.looseObject({
  model: modelName,
  client_protocol: z.string().max(64).optional(),
  stream: z.boolean().optional(),
  /** Not beside the fields that hold the text of the call. Default: a short greeting. */
  prompt: z.string().min(1).max(100_000).optional(),
  body: anyBody,
});

/** The protocol of this id, the first of the list when none is named. Throws 422. */
function pick<P extends Protocol>(list: readonly P[], id: string | undefined): P {
  const found = id === undefined ? list[0] : list.find((protocol) => protocol.id === id);
  if (!found) throw invalidField('client_protocol', `is not one of ${idsOf(list)}`);
  return found;
}

/** The body that a prompt makes; the model's name and the wish for a stream are set later. */
function bodyOfPrompt(protocol: ModelTest['protocol'], prompt: string): Body {
  const { model: _model, stream: _stream, ...body } = protocol.client.testCall({ model: '', stream: false, prompt, body: null }).body;
  return body;
}

/** Where a call of this protocol says its text: what differs with the prompt. */
function textFieldsOf(protocol: ModelTest['protocol']): string[] {
  const [one, other] = [bodyOfPrompt(protocol, '1'), bodyOfPrompt(protocol, '2')];
  return Object.keys(one).filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]));
}

/**
 * Unknown fields of a test are the body of its call when they hold the text; else they override fields of the body built from the prompt. null: the prompt alone.
 * Throws 422, also when there is no prompt and none of the fields belongs to a call of this protocol: one may be a misspelt `prompt`.
 */
function bodyOfTest(body: Body | null, beside: Body, prompt: string | undefined, protocol: ModelTest['protocol']): Body | null {
  const names = Object.keys(beside);
  if (names.length === 0) return body;
  const holds = (name: string): boolean => Object.hasOwn(beside, name);
  if (body === null && prompt !== undefined) {
    // Of any testable protocol: the text would be in the body twice.
    const text = testable.flatMap(textFieldsOf).find(holds);
    if (text !== undefined) throw invalidField('prompt', `and ${text} both hold the text of the call: give one`);
    return { ...bodyOfPrompt(protocol, prompt), ...beside };
  }
  if (body === null && textFieldsOf(protocol).some(holds)) return beside;
  const made = bodyOfPrompt(protocol, defaultPrompt);
  if (body === null && Object.keys(made).some(holds)) return { ...made, ...beside };
  throw invalid(names.slice(0, 20).map((name) => ({ field: name.slice(0, 100), message: 'is not a known field' })));
}

/** The same test as events: `data` with the reply's bytes as they come (JSON strings), `result` with what the plain answer is. */
async function answerStreamed(test: ModelTest, response: Response, context: ConsoleContext): Promise<void> {
  const left = new AbortController();
  response.once('close', () => left.abort());
  response.status(200).set({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' }).flushHeaders();
  const decoder = new TextDecoder();
  const say = (event: string, value: unknown) => response.write(`event: ${event}\ndata: ${JSON.stringify(value)}\n\n`);
  const result = await testModel(test, context, { data: (piece) => say('data', decoder.decode(piece, { stream: true })), signal: left.signal });
  if (left.signal.aborted) return;
  say('result', result);
  response.end();
}

export const routingRoutes = (context: ConsoleContext, now: () => number): Route[] => [
  {
    method: 'get',
    path: `${base}/model-monitor`,
    operationId: 'monitor_keys',
    summary: 'Which upstream key each access key is bound to, or would be',
    tag: 'routing',
    query: monitorQuery,
    status: 200,
    answer: keyMonitor,
    async handle(request, response) {
      const { upstream, ...query } = readInput(monitorQuery, request.query);
      const monitor = await monitorKeys(toListQuery(query, ['name', 'group', 'created_at', 'updated_at']), upstream, context);
      response.json({ ...monitor, page: query.page, page_size: query.page_size });
    },
  },
  {
    method: 'get',
    path: `${base}/load-balancers/{name}/nodes`,
    operationId: 'read_load_balancer_nodes',
    summary: 'How each entry stands: health, latency, place in the order',
    tag: 'load-balancers',
    status: 200,
    answer: balancerNodes,
    failures: [404],
    async handle(request, response) {
      const { document } = await findBalancer(context.storage.catalog, parameter(request, 'name'));
      response.json(await readNodes(document.name, context));
    },
  },
  {
    method: 'post',
    path: `${base}/route/explain`,
    operationId: 'explain_route',
    summary: 'Where a request would go, and why; nothing is sent',
    tag: 'routing',
    body: explainSchema,
    status: 200,
    answer: explanation,
    async handle(request, response) {
      const { access_key, model, body, client_protocol } = readInput(explainSchema, request.body);
      const protocol = pick(clients, client_protocol);
      const key = await lookAtKey(access_key, now(), context);
      if (!key) throw invalidField('access_key', 'there is no access key of this name');
      const { explanation, routers, processes } = await explainWays(
        {
          requestId: 'explain',
          model,
          accessKey: key.name,
          keyGroup: key.group,
          clientProtocol: protocol.id,
          operation: 'generate',
          stream: body?.['stream'] === true,
          ...(body && { body: JSON.stringify(body) }),
        },
        context,
      );
      const status = await readLimitStatus(context, Number.POSITIVE_INFINITY);
      const limits = explainLimits(status, key, explanation.nodes);
      const refusal = key.refusal ?? explanation.refusal ?? refuseSpent(status, key);
      response.json({ access_key, key_group: key.group, client_protocol: protocol.id, ...explanation, limits, refusal, routers, processes });
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
      const { model, client_protocol, stream, prompt, body: given, ...beside } = readInput(testSchema, request.body);
      const protocol = pick(testable, client_protocol);
      const body = bodyOfTest(given, beside, prompt, protocol);
      const test = { model, protocol, prompt: prompt ?? defaultPrompt, body, stream: stream ?? body?.['stream'] === true };
      // A list of both, as fetch sends by default, means the plain answer.
      if (request.get('accept') === 'text/event-stream') return answerStreamed(test, response, context);
      response.json(await testModel(test, context));
    },
  },
];
