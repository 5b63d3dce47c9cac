/** A message of each kind as services of this version send it: what the suites send, break, and replay as an older version would have written it. */
import {
  type AskSubjects,
  type DurableSubject,
  type EventSubjects,
  type Job,
  newRequestRow,
  type OpenSubjects,
  type Plan,
  type PlanRequest,
  type RequestRow,
  type TurnFacts,
} from '@model-gateway/contracts';

const plan: Plan = { revision: 1, model: 'm', nodes: [{ model: 'm', upstream: 'u', keys: [0] }], balanced: false };

const planRequest: PlanRequest = {
  requestId: 'r',
  revision: 1,
  model: 'm',
  accessKey: 'caller',
  keyGroup: 'everyone',
  clientProtocol: 'alpha',
  operation: 'generate',
  stream: false,
};

/** A whole job; the places say nothing of the body. */
export const sampleJob = (id = 'j', headers: Record<string, string> = { a: 'ü' }): Job => ({
  id,
  clientRequestId: null,
  startedAt: 1,
  accessKey: 'caller',
  keyGroup: 'everyone',
  clientProtocol: 'alpha',
  operation: 'generate',
  path: '/v1/chat/completions',
  query: '',
  requestedModel: 'm',
  stream: false,
  streamForm: 'whole',
  headers,
  clientIp: null,
  plan,
  deadlineMs: 60_000,
  queueMs: 1,
  places: { questions: 'none', values: {}, end: 1, words: [] },
});

export const sampleRow = (id: string): RequestRow =>
  newRequestRow({
    id,
    started_at: 1,
    authority: 2,
    access_key: 'caller',
    key_group: 'everyone',
    model: 'm',
    requested_model: 'm',
    upstream: 'u',
    upstream_model_id: 'm',
    client_protocol: 'alpha',
    upstream_protocol: 'alpha',
    status: 200,
    input_tokens: 1,
    output_tokens: 1,
    usage_source: 'upstream',
    queue_ms: 1,
    ttfb_ms: 1,
    first_content_ms: 1,
    duration_ms: 1,
    request_bytes: 1,
    response_bytes: 1,
  });

export const sampleAsks: { [S in keyof AskSubjects]: AskSubjects[S] } = {
  'router.plan': { request: planRequest, reply: plan },
  'stats.spent': { request: { owners: [{ kind: 'key', name: 'caller', currency: 'USD', from: 0 }] }, reply: { micros: [1] } },
  'stats.tasks': { request: { kind: 'find', owner: 'k', id: 'task_1' }, reply: { tasks: [] } },
  'catalog.revision': { request: {}, reply: { revision: 1 } },
  'catalog.scripts': { request: {}, reply: { scripts: 1 } },
};

const sampleTurn: TurnFacts = {
  id: 'resp_1',
  owner: 'k',
  parent: null,
  conversation: null,
  model: 'm',
  status: 'completed',
  createdAt: 1,
  background: false,
  holder: 'translator@here/1',
  requestId: 'j',
};

export const sampleOpens: { [S in keyof OpenSubjects]: OpenSubjects[S] } = {
  'translator.run': { request: sampleJob(), head: { status: 200, headers: {} }, tail: { row: sampleRow('j') } },
  'catalog.load': { request: { revision: 1 }, head: { revision: 1 }, tail: { bytes: 3 } },
  'catalog.load-redacted': { request: { revision: 1 }, head: { revision: 1 }, tail: { bytes: 3 } },
  'script.run': {
    request: {
      script: 'function transform(body) { return body }',
      slot: 'request_transform_before',
      context: {
        clientModel: 'm',
        upstreamModel: 'm',
        upstreamName: 'u',
        sourceProtocol: 'alpha',
        targetProtocol: 'alpha',
        stream: false,
        headers: {},
        query: {},
        requestId: 'j',
        clientIp: '',
        accessKeyName: 'caller',
        accessKeyGroup: 'everyone',
      },
      owner: 'model:m',
    },
    head: { operations: 1, execution_time_ms: 1, use_model: null, fault: null, places: null },
    tail: {},
  },
  'stats.keep-bodies': {
    request: {
      id: 'j',
      startedAt: 1,
      accessKey: 'caller',
      keyGroup: 'everyone',
      model: 'm',
      clientProtocol: 'alpha',
      path: '/v1/chat/completions',
      stream: false,
      status: 200,
      request: { size: 1, sent: 1, whole: true },
      response: { size: 1, sent: 1, whole: true },
      maxBytes: 1000,
      ttlHours: 1,
      revision: 1,
    },
    head: {},
    tail: {},
  },
  'turns.write': { request: { kind: 'finish', owner: 'k', id: 'resp_1', status: 'completed', authority: 2 }, head: { stored: true }, tail: {} },
  'turns.read': { request: { kind: 'turn', owner: 'k', id: 'resp_1' }, head: { found: true, turn: sampleTurn }, tail: {} },
  'edge.stream': { request: { stream: 'stream_1', owner: 'k', after: 3 }, head: { status: 200, headers: {} }, tail: {} },
  'translator.turns': {
    request: {
      id: 'j',
      clientRequestId: null,
      owner: 'k',
      accessKey: 'caller',
      keyGroup: 'everyone',
      clientProtocol: 'alpha_response',
      action: 'get',
      target: 'resp_1',
      query: '',
      headers: {},
      deadlineMs: 1000,
    },
    head: { status: 200, headers: {} },
    tail: {},
  },
  'console.http': { request: { remoteAddress: '127.0.0.1' }, head: {}, tail: {} },
};

export const sampleEvent: { [S in Exclude<keyof EventSubjects, DurableSubject>]: EventSubjects[S] } = {
  'catalog.changed': { revision: 2, previous: 1, delta: { models: { put: [], gone: ['m'] } } },
  'catalog.changed-redacted': { revision: 2, previous: 1, delta: { models: { put: [], gone: ['m'] } } },
  'turns.alive': { holder: 'translator@here/1' },
  'turns.cancelled': { id: 'resp_1' },
  'logs.watch': {},
  'logs.rows': { rows: [sampleRow('j')], dropped: 0 },
  'console.user-changed': { userId: 'someone' },
  'router.outcome': { outcomes: [{ model: 'm', upstream: 'u', key: 'k', sign: 'none', ok: 1, latencyMs: 1 }] },
  'gather.ask': { id: 'question', topic: 'key-bindings', request: { accessKeys: ['caller'] } },
  'gather.answer': { id: 'question', process: 'router@here/1', answer: { bindings: [] } },
  'gather.here': { process: 'router@here/1', topics: ['key-bindings'] },
};
