/**
 * The shape that each message on the bus must have. The bus checks every subject against this table, so that a handler never sees a value its types
 * do not allow. Durable events are not here: their consumer checks item by item, since one bad item must not hold up the others.
 */
import { z } from 'zod';
import { realtimeKinds } from '../realtime.ts';
import { ssoRefusals } from '../sso.ts';
import type { GatherTopics } from './gather.ts';
import * as part from './shape-parts.ts';
import type { AskSubjects, DurableSubject, EventSubjects, OpenSubjects } from './subjects.ts';

/** A validator of one message. */
export type Shape = z.ZodType;

const turnAtUpstream = z.looseObject({ model: part.text, upstream: part.text, account: part.text });

const catalogState = z.looseObject({ revision: part.whole, committedAt: part.whole.optional() });

export const askShapes = {
  'router.plan': { request: part.planRequest, reply: part.plan },
  'stats.spent': {
    request: z.looseObject({ owners: z.array(part.spendOwner).max(1000) }),
    reply: z.looseObject({ micros: z.array(z.number()), tasks: z.array(z.number()).optional() }),
  },
  'stats.tasks': {
    request: z.looseObject({
      kind: part.text,
      owner: part.id.optional(),
      id: part.id.optional(),
      task: z
        .looseObject({
          id: part.id,
          owner: part.id,
          upstreamTask: part.text,
          at: turnAtUpstream,
          createdAt: part.instant,
          reserved: part.moneyByCurrency.optional(),
        })
        .optional(),
      reply: z.string().optional(),
    }),
    reply: z.looseObject({ tasks: z.array(z.looseObject({ facts: part.anything, status: part.text, reply: z.string().nullable() })).max(100) }),
  },
  'limits.run': {
    request: z.looseObject({ rule: part.text, scope: part.text, values: z.array(z.union([z.string(), z.number()])) }),
    reply: z.looseObject({ numbers: z.array(z.number()) }),
  },
  'catalog.revision': { request: part.anything, reply: catalogState },
  'catalog.scripts': { request: part.anything, reply: z.looseObject({ scripts: part.whole }) },
  'catalog.mcp-tools': {
    request: z.looseObject({ server: part.id, tools: z.array(z.looseObject({ name: part.text, hash: part.text })).max(5000), peek: z.boolean().optional() }),
    reply: z.looseObject({ changed: part.texts }),
  },
  'mcp.test-tool': {
    request: z.looseObject({ server: part.text, tool: part.text, arguments: part.text }),
    reply: z.looseObject({ ok: z.boolean(), answer: part.text, durationMs: z.number() }),
  },
  'catalog.mcp-secrets': {
    request: part.anything,
    reply: z.looseObject({
      keys: z.array(z.looseObject({ id: part.text, key: part.text })).max(100),
      servers: z.array(z.looseObject({ id: part.text, endpoint: part.text, auth: part.text.optional(), headers: part.textByName.optional() })),
    }),
  },
  'sso.token': {
    request: z.looseObject({
      credential: part.text,
      rejected: part.id.optional(),
      doubt: z.looseObject({ caller: part.text, accepted: z.boolean() }).optional(),
    }),
    reply: z.looseObject({ sealed: z.string().max(262_144).optional(), refused: z.enum(ssoRefusals).optional() }),
  },
  'realtime.verification-keys': {
    request: part.anything,
    reply: z.looseObject({ keys: z.array(z.looseObject({ id: part.text, key: part.text })).max(100) }),
  },
  'realtime.mint-key': {
    request: z.looseObject({
      parent: part.id,
      parentHash: part.text,
      expiresAt: part.instant,
      kind: z.enum(realtimeKinds),
      model: part.text.optional(),
      session: part.text,
      maxLength: part.whole,
    }),
    reply: z.looseObject({ value: part.text }),
  },
} as const satisfies { [S in keyof AskSubjects]: { request: Shape; reply: Shape } };

const catalogLoad = {
  request: z.looseObject({ revision: part.whole.optional() }),
  head: z.looseObject({ revision: part.whole }),
  tail: z.looseObject({ bytes: part.whole }),
};

const turnFacts = z.looseObject({
  id: part.text,
  owner: part.id,
  parent: part.orNull(part.text),
  conversation: part.orNull(part.text),
  model: part.text,
  status: part.text,
  createdAt: part.instant,
  background: z.boolean(),
  holder: part.text,
  requestId: part.text,
  stream: part.text.optional(),
  at: turnAtUpstream.optional(),
});

/** Ids are as callers gave them: the store knows what it has. */
const turnsWrite = z.looseObject({
  kind: part.text,
  owner: part.id.optional(),
  id: part.text.optional(),
  item: part.text.optional(),
  status: part.text.optional(),
  turn: turnFacts.optional(),
  inputBytes: part.whole.optional(),
  items: part.texts.optional(),
});

const turnsRead = z.looseObject({
  kind: part.text,
  owner: part.id,
  id: part.text.optional(),
  turn: part.text.optional(),
  conversation: part.text.optional(),
  item: part.text.optional(),
  ids: part.texts.max(10_000).optional(),
});

export const openShapes = {
  'translator.run': {
    request: part.job,
    head: z.looseObject({
      status: z.int().min(100).max(599),
      headers: part.textByName,
      turn: z.looseObject({ id: part.id }).optional(),
      served: part.served.optional(),
      background: z.looseObject({ answer: part.text.optional() }).optional(),
    }),
    tail: z.looseObject({
      row: part.passingRow,
      error: part.errorWire.optional(),
      usage: part.usage.optional(),
      task: part.id.optional(),
      trace: z.looseObject({ body: part.text }).optional(),
    }),
  },
  'catalog.load': catalogLoad,
  'catalog.load-redacted': catalogLoad,
  'script.run': { request: part.scriptRun, head: part.scriptOutcome, tail: part.anything },
  'stats.keep-bodies': { request: part.bodiesToKeep, head: part.anything, tail: part.anything },
  'turns.write': {
    request: turnsWrite,
    head: z.looseObject({ stored: z.boolean(), reason: part.text.optional(), status: part.text.optional() }),
    tail: part.anything,
  },
  'turns.read': {
    request: turnsRead,
    head: z.looseObject({
      found: z.boolean(),
      deleted: z.boolean().optional(),
      turn: turnFacts.optional(),
      createdAt: part.instant.optional(),
      turns: part.whole.optional(),
      at: turnAtUpstream.optional(),
      cut: z.boolean().optional(),
      hasMore: z.boolean().optional(),
    }),
    tail: part.anything,
  },
  'translator.turns': {
    request: z.looseObject({
      id: part.id,
      owner: part.id,
      accessKey: part.text,
      keyGroup: part.text,
      clientProtocol: part.text,
      action: part.text,
      target: part.text.optional(),
      item: part.text.optional(),
      operator: z.literal(true).optional(),
      query: part.text,
      headers: part.textByName,
      deadlineMs: z.number(),
    }),
    head: z.looseObject({ status: z.int().min(100).max(599), headers: part.textByName }),
    tail: z.looseObject({ resume: z.looseObject({ stream: part.text, after: z.int().min(-1) }).optional() }),
  },
  'translator.realtime': {
    request: part.realtimeJob,
    head: part.anything,
    tail: z.looseObject({ close: z.looseObject({ code: z.int().min(1000).max(4999), reason: part.text }) }),
  },
  'mcp.exchange': {
    request: z.looseObject({
      id: part.id,
      caller: z.looseObject({
        accessKey: part.text,
        owner: part.id,
        keyGroup: part.text,
        mask: part.text,
        clientIp: part.orNull(part.text),
        userAgent: part.orNull(part.text),
        clientRequestId: part.orNull(part.text),
      }),
      method: part.text,
      path: part.text,
      query: part.text,
      headers: part.textByName,
    }),
    head: z.looseObject({ status: z.int().min(100).max(599), headers: part.textByName }),
    tail: part.anything,
  },
  'edge.stream': {
    request: z.looseObject({
      stream: part.id,
      owner: part.id,
      after: part.whole.optional(),
      number: z.int().min(-1).optional(),
      look: z.literal(true).optional(),
    }),
    head: z.looseObject({ status: z.int().min(100).max(599), headers: part.textByName }),
    tail: part.anything,
  },
  'console.http': { request: z.looseObject({ remoteAddress: part.text }), head: part.anything, tail: part.anything },
} as const satisfies { [S in keyof OpenSubjects]: { request: Shape; head: Shape; tail: Shape } };

const sectionDelta = z.looseObject({ put: z.array(part.anything), gone: z.array(z.unknown()) });

const catalogChanged = catalogState.extend({
  previous: part.whole,
  previousCommittedAt: part.whole.optional(),
  delta: z.record(z.string(), sectionDelta).optional(),
});

export const eventShapes = {
  'catalog.changed': catalogChanged,
  'catalog.changed-redacted': catalogChanged,
  'logs.watch': part.anything,
  'logs.rows': z.looseObject({ rows: z.array(part.passingRow), dropped: part.whole }),
  'console.user-changed': z.looseObject({ userId: part.text }),
  'turns.alive': z.looseObject({ holder: part.id }),
  'turns.cancelled': z.looseObject({ id: part.id }),
  'router.outcome': z.looseObject({ outcomes: z.array(part.outcome) }),
  'mcp.refresh': z.looseObject({ server: part.text }),
  'gather.ask': z.looseObject({ id: part.id, topic: part.text, request: z.unknown() }),
  'gather.answer': z.looseObject({ id: part.id, process: part.id, answer: z.unknown() }),
  'gather.here': z.looseObject({ process: part.id, topics: part.texts.max(100) }),
} as const satisfies Record<Exclude<keyof EventSubjects, DurableSubject>, Shape>;

const named = z.looseObject({ name: part.text });
const explainedNode = z.looseObject({ model: part.text, state: part.text, keys: z.array(part.anything) });

/** Of a GatewayError on its way. */
export const errorShape: Shape = part.errorWire;

/** Of what travels inside `gather.ask` and `gather.answer`. */
export const gatherShapes = {
  'edge-limits': {
    request: part.anything,
    answer: z.looseObject({
      state: part.anything,
      requests: z.looseObject({ used: z.number(), limit: z.number() }),
      streams: z.looseObject({ used: z.number(), limit: z.number() }),
      keys: z.array(named),
      ips: z.array(named),
      budgets: z.array(named),
    }),
  },
  'translator-limits': {
    request: part.anything,
    answer: z.looseObject({ state: part.anything, gates: z.array(z.looseObject({ scope: part.text, used: z.number(), waiting: z.number() })) }),
  },
  'key-bindings': {
    request: z.looseObject({ accessKeys: part.texts }),
    answer: z.looseObject({
      bindings: z.array(z.looseObject({ accessKey: part.text, upstream: part.text, keyIndex: z.int(), fingerprint: part.text, idleMs: z.number() })),
    }),
  },
  'route-explain': {
    request: part.explainRequest,
    answer: z.looseObject({
      requested_model: part.text,
      granted: z.boolean(),
      nodes: z.array(explainedNode),
      limits: z.array(part.anything),
      switches: z.array(part.anything),
    }),
  },
  'mcp-servers': {
    request: z.looseObject({ server: part.text.optional() }),
    answer: z.looseObject({
      servers: z.array(
        z.looseObject({
          name: part.text,
          state: part.text,
          reason: part.orNull(part.text),
          sessions: part.whole,
          tools: part.orNull(z.array(z.looseObject({ name: part.text, description: part.text, tokens: part.whole, changed: z.boolean(), held: z.boolean() }))),
          faults: part.texts,
        }),
      ),
    }),
  },
  'balancer-nodes': {
    request: z.looseObject({ loadBalancer: part.text, revision: part.whole }),
    answer: z.looseObject({ nodes: z.array(explainedNode) }),
  },
} as const satisfies { [T in keyof GatherTopics]: { request: Shape; answer: Shape } };
