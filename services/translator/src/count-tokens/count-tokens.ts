/** Counts a request's tokens: by the upstream's own counter where it has one and may be asked, else by tiktoken. Never fails for want of a counter. */
import { type AttemptRecord, withoutCounter } from '@model-gateway/contracts';
import { type Conversation, findProtocol } from '@model-gateway/protocols';
import { type Route, resolveTarget } from '@model-gateway/routing';
import type { SendDeps } from '../attempt/deps.ts';
import { planReroute } from '../attempt/reroute.ts';
import { mayRenew, withRenewedToken } from '../attempt/with-renewed-token.ts';
import { chooseRoute } from '../prepare/order.ts';
import { prepare } from '../prepare/prepare.ts';
import type { PrepareContext } from '../prepare/step.ts';
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import type { ReplySink } from '../reply-sink.ts';
import { type CurrentRequest, readRequest } from '../request/current.ts';
import type { RequestPlan } from '../request/plan.ts';
import { abandonAttempt, beginAttempt, endAttempt } from '../spans.ts';
import { type CountAnswer, sendCount } from './ask-upstream.ts';
import { conversationText, mediaTokens } from './conversation-text.ts';
import type { CountDeps } from './deps.ts';

export async function countTokens(current: CurrentRequest, sink: ReplySink, deps: CountDeps): Promise<void> {
  const found = await findTarget(current, deps);
  const { request, record, body } = found.current;
  // Read first: an invalid request is the caller's fault, whatever counts it.
  const { conversation } = readRequest({ record, body });
  const counted = found.target ? await askUpstream(found.target, deps) : null;
  sink.whole(JSON.stringify(request.client.writeTokenCount(counted ?? (await countHere(request.job.id, conversation, found.target?.route, deps)))));
}

/** Where a request is counted. */
interface CountTarget extends PrepareContext {
  readonly keyIndex: number;
}

/**
 * A request is counted where it would be answered, and as it would be: rules and scripts before the translation do what they would do then.
 * `target` undefined: no upstream can be asked.
 */
async function findTarget({ request, record, body: sent }: CurrentRequest, deps: CountDeps): Promise<{ current: CurrentRequest; target?: CountTarget }> {
  const { plan: first } = request.job;
  const snapshot = await deps.reroute.catalog.at(first.revision);
  let plan: RequestPlan = { plan: first, snapshot, body: sent, routes: [first.model], leftUpstreams: [], steps: [], carried: undefined };
  for (;;) {
    record.startPlan(plan);
    const [node] = plan.plan.nodes;
    if (!node) return { current: { request, record, body: plan.body } };
    const keyIndex = node.keys[0] ?? -1;
    const route = resolveTarget(plan.snapshot, { model: node.model, upstream: node.upstream, keyIndex });
    record.startNode(plan.body);
    const current: PrepareContext = { request, record, body: plan.body, plan, route, prepare: deps.prepare };
    const { body, rerouteTo } = await chooseRoute(current);
    const target = { ...current, body, keyIndex };
    if (rerouteTo === undefined) return { current: target, target };
    plan = await planReroute(target, { model: rerouteTo, body }, deps.reroute);
  }
}

/** Bytes of a token, where even the counter's thread cannot run: a guess is better for an agent than no answer. */
const bytesPerToken = 4;

async function countHere(requestId: string, conversation: Conversation, route: Route | undefined, { counter, send }: CountDeps): Promise<number> {
  const text = conversationText(conversation);
  const media = mediaTokens(conversation);
  try {
    return media + (await counter.count(text, route?.target.family.tokenizer));
  } catch (error) {
    send.logger.error({ request: requestId, error }, 'tokens are estimated: the counter does not run');
    return media + Math.ceil(Buffer.byteLength(text) / bytesPerToken);
  }
}

async function askUpstream(target: CountTarget, deps: CountDeps): Promise<number | null> {
  const { request, record, route } = target;
  record.startAttempt(route);
  // Nothing is built for an upstream that is not asked.
  if (route.tokenCounting === 'tiktoken' || !findProtocol(route.protocol)?.upstream?.countsTokens) return null;
  const upstreamRequest = await prepare(target);
  // A target that is a whole endpoint without a counting one beside it would generate a reply.
  if (route.target.directPath && isSamePlace(upstreamRequest.endpoint.url, route.target.baseUrl)) return null;
  const answer = await withRenewedToken<CountAnswer>({
    route,
    deps: deps.send,
    caller: request.job,
    subject: { request: request.job.id },
    isRefused: (refusal) => !request.cancellation.isOver && mayRenew(route, refusal),
    send: () => recordCount(target, upstreamRequest, deps.send),
  });
  return answer.tokens;
}

async function recordCount(target: CountTarget, upstreamRequest: UpstreamRequest, deps: SendDeps): Promise<CountAnswer> {
  const { request, record, route, keyIndex } = target;
  const began = performance.now();
  const span = request.span && beginAttempt(request.span, request, upstreamRequest);
  const answer = await sendCount(target, upstreamRequest, deps).catch((error: unknown) => {
    if (span) abandonAttempt(span, error);
    throw error;
  });
  const attempt: AttemptRecord = {
    upstream: route.upstream.name,
    key_index: keyIndex,
    status: answer.status,
    error_code: errorOf(answer, request.cancellation.isOver),
    duration_ms: Math.round(performance.now() - began),
    model: route.model.name,
    key: route.key?.id ?? '',
  };
  record.addAttempt(attempt);
  if (span) endAttempt(span, { request, record, attempt, began, complete: false });
  return answer;
}

/** Statuses of a path, a method or an operation that the upstream does not have. */
const lacking: ReadonlySet<number> = new Set([404, 405, 501]);

/** An upstream without a counter has not failed, and says the same to each request: statistics keep it apart from one that is broken. */
function errorOf({ status, tokens }: CountAnswer, callerLeft: boolean): string | null {
  if (tokens !== null) return null;
  if (callerLeft) return 'client_gone';
  return status !== null && (status < 300 || lacking.has(status)) ? withoutCounter : 'count_failed';
}

/** Whether `url` is `base`, but for what a protocol adds to its query. */
const isSamePlace = (url: string, base: string): boolean => url.startsWith(base) && (url.length === base.length || '?&'.includes(url.charAt(base.length)));
