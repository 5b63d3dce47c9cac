/** Walks a plan until an upstream has begun the session: keys of a node, then the next node, as calls do. */
import { type AttemptRecord, type RealtimeJob, type SocketClose, sealedAs } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Lease } from '@model-gateway/distributed-state';
import { findProtocol, type RealtimeAdapter, type UpstreamAdapter, type UpstreamFault } from '@model-gateway/protocols';
import { type PlannedAttempt, type Route, resolveTarget } from '@model-gateway/routing';
import type { Span } from '@model-gateway/telemetry';
import { AttemptCursor } from '../attempt/attempt-cursor.ts';
import { faultToError, healthSign, isOurs, nextStep, refusesKey, wasUnreached } from '../attempt/classify.ts';
import { Failures } from '../attempt/failures.ts';
import { cleanWords } from '../attempt/fault-facts.ts';
import type { AttemptWatch } from '../attempt/outcomes.ts';
import type { RetryBudget } from '../attempt/retry-budget.ts';
import { mayRenew, withRenewedToken } from '../attempt/with-renewed-token.ts';
import type { Cancellation } from '../request/cancellation.ts';
import { abandonAttempt, beginDial, endDial } from '../spans.ts';
import { localCodes } from './close-codes.ts';
import type { RealtimeDeps } from './deps.ts';
import { dial } from './dial.ts';
import type { BegunSession, DialContext, Dialled, FailedDial, Frame, LastWords } from './dialled.ts';

/** A session that an upstream has begun. */
export interface Begun extends BegunSession {
  readonly route: Route;
  readonly realtime: RealtimeAdapter;
  readonly lease: Lease;
}

/** A session that no upstream has begun: the last one's own words are the answer. */
export interface NotBegun {
  readonly error: GatewayError;
  /** null: it only closed. */
  readonly frame: Frame | null;
  readonly close: SocketClose;
}

export interface Search {
  readonly job: RealtimeJob;
  readonly cancellation: Cancellation;
  readonly deps: RealtimeDeps;
  /** As in `DialContext`. */
  readonly opening: Frame | null;
  /** An upstream has answered the handshake with 101. */
  accepted(): void;
  /** An attempt is over. `route`: where it went. */
  tried(attempt: AttemptRecord, route: Route): void;
  /** Of the session; undefined: it is not traced. */
  readonly span: Span | undefined;
}

/** Throws when no upstream begins the session, and the last one sent neither an error nor a close that may be passed on. */
export async function findUpstream(search: Search): Promise<Begun | NotBegun> {
  const { job, cancellation, deps } = search;
  const { plan } = job;
  const snapshot = await deps.catalog.at(plan.revision);
  const { retries } = deps.balance;
  if (plan.nodes.length > 1) retries.enter();
  const cursor = new AttemptCursor(plan);
  const failures = new Failures(plan);
  let lastWords: LastWords | undefined;
  for (let planned = cursor.attempt; planned; planned = cursor.attempt) {
    cancellation.throwIfOver();
    const route = resolveTarget(snapshot, planned);
    const upstream = findProtocol(route.protocol)?.upstream;
    const realtime = upstream?.realtime?.[job.kind ?? 'realtime'];
    if (!upstream || !realtime) {
      failures.refused ??= new GatewayError('unsupported_operation', { message: refusalOf(upstream), param: 'model' });
      cursor.nextNode();
      continue;
    }
    const lease = await deps.balance.limiter.acquire(route, {
      accessKey: job.accessKey,
      requestTokens: () => 1,
      replyTokens: () => 0,
      mayWait: !plan.balanced,
      onLeave: (leave) => cancellation.onCancel(leave),
    });
    if (lease.limited) {
      failures.passOver(lease.retryAfterMs);
      cursor.nextNode();
      continue;
    }
    const dialled = await tryOne(search, { planned, route, upstream, realtime, probe: cursor.node?.probe }, lease);
    if ('socket' in dialled) return { ...dialled, route, realtime, lease };
    failures.add(dialled.fault, errorOf(dialled.fault, route, search));
    lastWords = wordsFor(search, dialled, route);
    if (!moveOn(cursor, dialled.fault, retries)) break;
  }
  return notBegun(failures.error(), lastWords, cancellation);
}

async function notBegun(error: GatewayError, lastWords: LastWords | undefined, cancellation: Cancellation): Promise<NotBegun> {
  if (!lastWords) throw error;
  const close = await lastWords.closed;
  cancellation.throwIfOver();
  const { error: frame } = lastWords;
  const canBeSent = close.code !== 1005 && !localCodes.has(close.code);
  if (!frame && !canBeSent) throw error;
  return { error, frame, close: canBeSent ? close : { code: 1011, reason: error.message } };
}

const refusalOf = (upstream: UpstreamAdapter | undefined): string =>
  upstream?.realtime ? 'The model holds no sessions of this kind.' : 'The model holds no realtime sessions.';

interface Candidate extends Pick<DialContext, 'route' | 'realtime'> {
  readonly planned: PlannedAttempt;
  readonly upstream: UpstreamAdapter;
  readonly probe: true | undefined;
}

/** The lease stays taken where the session began. */
async function tryOne(search: Search, candidate: Candidate, lease: Lease): Promise<Dialled> {
  const { job, cancellation, deps } = search;
  const { route } = candidate;
  const { dialled, watch } = await withRenewedToken<Tried>({
    route,
    deps,
    caller: { accessKey: job.accessKey, operation: 'realtime' },
    subject: { request: job.id },
    isRefused: (tried) => mayRenew(route, tried),
    send: () => tryOnce(search, candidate),
    async sendAgain() {
      cancellation.throwIfOver();
      return tryOnce(search, candidate);
    },
  }).catch((error: unknown) => {
    lease.release(() => 0);
    throw error;
  });
  if ('socket' in dialled) {
    watch.content();
    return dialled;
  }
  lease.release(() => 0);
  const sign = healthSign(dialled.fault);
  if (sign === 'none') watch.content();
  else watch.failed(sign, dialled.fault.retryAfterMs);
  return dialled;
}

/** One handshake. `watch` has not been given the result yet: a repetition may decide what it says of the upstream. */
interface Tried {
  readonly dialled: Dialled;
  readonly fault: UpstreamFault | null;
  readonly status: number | null;
  readonly watch: AttemptWatch;
}

async function tryOnce(search: Search, { planned, route, upstream, realtime, probe }: Candidate): Promise<Tried> {
  const { job, cancellation, deps } = search;
  const began = performance.now();
  const node = { model: planned.model, upstream: planned.upstream, keys: [planned.keyIndex], ...(probe && { probe }) };
  const watch = deps.balance.outcomes.begin(route, node, job.plan.balanced);
  const span = search.span && beginDial(search.span, job, route);
  let dialled: Dialled;
  try {
    dialled = await new Promise<Dialled>((resolve, reject) => {
      const context = { job, route, upstream, realtime, deps, opening: search.opening, accepted: search.accepted };
      dial(context, (giveUp) => {
        cancellation.onCancel(() => {
          giveUp();
          reject(cancellation.error);
        });
      }).then(resolve, reject);
    });
  } catch (error) {
    if (span) abandonAttempt(span, error);
    throw error;
  }
  const attempt = recordOf(dialled, { planned, route, upstream, realtime, probe }, performance.now() - began, search);
  if (span) endDial(span, attempt);
  search.tried(attempt, route);
  return { dialled, watch, fault: 'fault' in dialled ? dialled.fault : null, status: attempt.status };
}

const maxWords = 1000;
const maxCode = 64;

function recordOf(dialled: Dialled, { planned, route }: Candidate, durationMs: number, { job, deps }: Search): AttemptRecord {
  const { keyring, redactor } = deps.secrets;
  const fault = 'fault' in dialled ? dialled.fault : null;
  return {
    upstream: route.upstream.name,
    key_index: planned.keyIndex,
    status: 'fault' in dialled ? dialled.status : 101,
    error_code: fault && (fault.code === undefined ? fault.class : redactor.redact(fault.code).slice(0, maxCode)),
    duration_ms: Math.round(durationMs),
    model: route.model.name,
    key: route.key?.id ?? '',
    ...(fault && { message: keyring.seal(redactor.redact(fault.message).slice(0, maxWords), sealedAs.attemptMessage(job.id)) }),
  };
}

const cleaner = ({ job, deps }: Search, { target }: Route) => cleanWords(target.upstreamModelId, job.requestedModel, deps.secrets.redactor);

function errorOf(fault: UpstreamFault, route: Route, search: Search): GatewayError {
  const { text } = cleaner(search, route);
  return faultToError(fault, { clean: (words) => text(words).slice(0, maxWords) });
}

/** What the upstream said, made safe for the caller. undefined: nothing that can be passed on. */
function wordsFor(search: Search, { fault, lastWords }: FailedDial, route: Route): LastWords | undefined {
  if (!lastWords || isOurs(fault)) return undefined;
  const { text, json } = cleaner(search, route);
  const { error } = lastWords;
  const said = error ? json(error.bytes.toString('utf8')) : undefined;
  if (error && said === undefined) return undefined;
  return {
    error: error && said !== undefined ? { ...error, bytes: Buffer.from(said) } : null,
    closed: lastWords.closed.then(({ code, reason }) => ({ code, reason: text(reason) })),
  };
}

/** As for calls, but that nothing was worked on yet. */
function moveOn(cursor: AttemptCursor, fault: UpstreamFault, retries: RetryBudget): boolean {
  const step = nextStep(fault);
  if (step === 'stop' || step === 'larger') return false;
  if (refusesKey(fault)) cursor.refuseKey();
  const staysHere = step === 'key' || (step === 'node-or-key' && (cursor.isLastNode || !retries.hasLeft()));
  if (staysHere && cursor.nextKey()) return true;
  if (step === 'node-or-key') cursor.leaveKeys();
  if (!cursor.nextNode()) return false;
  return cursor.returned || wasUnreached(fault) || retries.take();
}
