/** Counts a request's tokens: by the upstream's own counter where it has one and may be asked, else by tiktoken. Never fails for want of a counter. */
import type { AttemptRecord } from '@model-gateway/contracts';
import { type Conversation, findProtocol } from '@model-gateway/protocols';
import { type Route, resolveTarget } from '@model-gateway/routing';
import { reroute } from '../attempt/reroute.ts';
import type { Call } from '../call.ts';
import type { TranslatorContext } from '../context.ts';
import { chooseRoute } from '../prepare/order.ts';
import { prepare } from '../prepare.ts';
import type { ReplySink } from '../reply-sink.ts';
import { abandonAttempt, beginAttempt, endAttempt } from '../spans.ts';
import { sendCount } from './ask-upstream.ts';
import { conversationText, mediaTokens } from './conversation-text.ts';

export async function countTokens(call: Call, sink: ReplySink, context: TranslatorContext): Promise<void> {
  const place = await findPlace(call, context);
  const route = place?.route;
  // Read first: an invalid request is the caller's fault, whatever counts it.
  const { conversation } = call.readRequest();
  const counted = place ? await askUpstream(call, place.route, place.keyIndex, sink, context) : null;
  sink.whole(JSON.stringify(call.client.writeTokenCount(counted ?? (await countHere(call, conversation, route, context)))));
}

/** A request is counted where it would be answered, and as it would be: rules and scripts before the translation do what they would do then. undefined: no upstream can be asked. */
async function findPlace(call: Call, context: TranslatorContext): Promise<{ route: Route; keyIndex: number } | undefined> {
  for (;;) {
    const snapshot = await context.catalog.at(call.plan.revision);
    const [node] = call.plan.nodes;
    if (!node) return undefined;
    const keyIndex = node.keys[0] ?? -1;
    const route = resolveTarget(snapshot, { model: node.model, upstream: node.upstream, keyIndex });
    call.startNode();
    const choosing = chooseRoute({ call, route, snapshot, translatorContext: context });
    const rerouteTo = choosing instanceof Promise ? await choosing : choosing;
    if (rerouteTo === undefined) return { route, keyIndex };
    await reroute(call, route, rerouteTo, context);
  }
}

/** Characters of a token, where even the counter's thread cannot run: a guess is better for an agent than no answer. */
const charactersPerToken = 4;

async function countHere(call: Call, conversation: Conversation, route: Route | undefined, context: TranslatorContext): Promise<number> {
  const text = conversationText(conversation);
  const media = mediaTokens(conversation);
  try {
    return media + (await context.counter.count(text, route?.target.family.tokenizer));
  } catch (error) {
    context.logger.error({ request: call.job.id, error }, 'tokens are estimated: the counter does not run');
    return media + Math.ceil(text.length / charactersPerToken);
  }
}

async function askUpstream(call: Call, route: Route, keyIndex: number, sink: ReplySink, context: TranslatorContext): Promise<number | null> {
  call.startAttempt(route);
  // Nothing is built for an upstream that is not asked.
  if (route.tokenCounting === 'tiktoken' || !findProtocol(route.protocol)?.upstream?.countsTokens) return null;
  const prepared = await prepare(call, route, context);
  // A target that is a whole endpoint without a counting one beside it would generate a reply.
  if (route.target.directPath && isSamePlace(prepared.request.url, route.target.baseUrl)) return null;
  const began = performance.now();
  const span = call.span && beginAttempt(call.span, call, prepared);
  const answer = await sendCount(call, prepared, sink, context).catch((error: unknown) => {
    if (span) abandonAttempt(span, error);
    throw error;
  });
  const record: AttemptRecord = {
    upstream: route.upstream.name,
    key_index: keyIndex,
    status: answer.status,
    error_code: answer.tokens === null ? 'no_count' : null,
    duration_ms: Math.round(performance.now() - began),
    model: route.model.name,
    key: route.key?.id ?? '',
  };
  call.attempts.push(record);
  if (span) endAttempt(span, call, record, began, false);
  return answer.tokens;
}

/** Whether `url` is `base`, but for what a protocol adds to its query. */
const isSamePlace = (url: string, base: string): boolean => url.startsWith(base) && (url.length === base.length || '?&'.includes(url.charAt(base.length)));
