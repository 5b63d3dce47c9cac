/** Whether an upstream answers: one real, small call of a model of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describeTarget } from '@model-gateway/routing';
import type { ModelDocument, UpstreamDocument } from '@model-gateway/storage';
import type { ConsoleContext } from '../context.ts';
import { failureOf } from '../health/read-health.ts';
import type { ResourceState, StateName } from '../health/state-of-attempts.ts';
import { Problem } from '../problem.ts';
import { type TestWatcher, testModel } from './test-model.ts';
import { type TestedCall, testedCalls } from './tested-calls.ts';

/** How one test of an upstream went. */
export interface UpstreamTest {
  upstream: string;
  /** The model that was called; null: none of it can be tested without a file or a session. */
  model: string | null;
  ok: boolean;
  status: number | null;
  latency_ms: number | null;
  request_id: string | null;
  /** Why it went wrong, as the log of requests says it; else what was answered. */
  message: string | null;
}

const prompt = 'Say hello.';
const maxMessage = 500;
/** How long the row of a failed test is waited for, and how far its time may be from now: a test may take minutes. */
const rowWaitMs = 3_000;
const rowWindowMs = 3_600_000;
/** Models of an upstream that are looked at for one that can be tested. */
const maxModels = 200;

/** Throws 404. */
export async function testUpstream(name: string, signal: TestWatcher['signal'], context: ConsoleContext): Promise<UpstreamTest> {
  const { storage } = context;
  const found = await storage.catalog.read(async ({ upstreams, models }) => {
    const upstream = (await upstreams.find(name))?.document;
    return upstream && { upstream, models: (await models.where('upstream', name, maxModels)).map(({ document }) => document) };
  });
  if (!found) throw new Problem('not_found', 'There is no upstream of this name.');
  const states = await context.health.attempts();
  const known = found.models.toSorted((one, other) => rankOf(states.model(one.name)) - rankOf(states.model(other.name)));
  const chosen = chooseCall(found.upstream, known, context);
  if (!chosen) return { upstream: name, model: null, ok: false, status: null, latency_ms: null, request_id: null, message: null };
  const test = { model: chosen.model, call: chosen.call, stream: false, prompt, body: null, file: null };
  const { status, latency_ms, request_id, response } = await testModel(test, { signal }, context);
  const ok = status < 400;
  const message = ok ? null : ((await causeOf(request_id, name, signal, context)) ?? messageOf(response));
  return { upstream: name, model: chosen.model, ok, status, latency_ms, request_id, message };
}

/** A model that works says more about its upstream than one that fails. */
const ranks: Partial<Record<StateName, number>> = { healthy: 0, degraded: 1, failing: 3, limited: 3, refused: 3 };
const rankOf = ({ status }: ResourceState): number => ranks[status] ?? 2;

/** A conversation where one is served: it is cheap everywhere. */
function chooseCall(upstream: UpstreamDocument, models: readonly ModelDocument[], { protocols }: ConsoleContext): { model: string; call: TestedCall } | null {
  const calls = testedCalls.filter(({ takesFile }) => !takesFile);
  const offered = models
    .filter(({ enabled }) => enabled)
    .flatMap((model) => {
      const { protocol, target } = describeTarget(model, upstream);
      const adapter = protocols.find(({ id }) => id === protocol)?.upstream;
      const serves = adapter ? (adapter.serves?.(target) ?? (['generate'] as const)) : [];
      return calls.filter(({ operation }) => serves.includes(operation)).map((call) => ({ model: model.name, call }));
    });
  return offered.find(({ call }) => call.operation === 'generate') ?? offered[0] ?? null;
}

/** The reason that the row of the call has for admins; callers get less. null: no row was stored in time, or it has no reason. */
async function causeOf(id: string, upstream: string, signal: AbortSignal, { storage, keyring, now }: ConsoleContext): Promise<string | null> {
  const filters = { requestId: id, from: now() - rowWindowMs, to: now() + rowWindowMs };
  for (const end = performance.now() + rowWaitMs; performance.now() < end && !signal.aborted; await sleep(100)) {
    const [row] = (await storage.requests.listRows({ filters, limit: 1 })).items;
    if (row) return failureOf(row, upstream, keyring)?.message?.slice(0, maxMessage) ?? null;
  }
  return null;
}

/** Of an error in any protocol's shape. */
function messageOf(response: unknown): string | null {
  const error = (response as { error?: unknown } | null | undefined)?.error ?? response;
  const message = typeof error === 'string' ? error : (error as { message?: unknown } | null | undefined)?.message;
  return typeof message === 'string' ? message.slice(0, maxMessage) : null;
}
