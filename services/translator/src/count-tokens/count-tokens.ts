/** Counts a request's tokens: by the upstream's own counter where it has one and may be asked, else by tiktoken. Never fails for want of a counter. */
import { findProtocol } from '@model-gateway/protocols';
import { type Route, resolveTarget } from '@model-gateway/routing';
import type { Call } from '../call.ts';
import { prepare } from '../prepare.ts';
import type { ReplySink } from '../reply-sink.ts';
import type { Room } from '../room.ts';
import { sendCount } from './ask-upstream.ts';
import { conversationText } from './conversation-text.ts';

export async function countTokens(call: Call, sink: ReplySink, room: Room): Promise<void> {
  const snapshot = await room.catalog.at(call.job.plan.revision);
  const [node] = call.job.plan.nodes;
  const planned = node && { model: node.model, upstream: node.upstream, keyIndex: node.keys[0] ?? -1 };
  const route = planned && resolveTarget(snapshot, planned);
  // Read first: a request that makes no sense is the caller's fault whoever counts it.
  const { conversation } = call.readRequest();
  const counted = route ? await askUpstream(call, route, planned.keyIndex, sink, room) : null;
  const tokens = counted ?? (await room.counter.count(conversationText(conversation)));
  sink.whole(JSON.stringify(call.client.writeTokenCount(tokens)));
}

async function askUpstream(call: Call, route: Route, keyIndex: number, sink: ReplySink, room: Room): Promise<number | null> {
  call.startAttempt(route);
  // Nothing is built for an upstream that is not asked.
  if (route.tokenCounting === 'tiktoken' || !findProtocol(route.protocol)?.upstream?.countsTokens) return null;
  const prepared = await prepare(call, route, room);
  const began = performance.now();
  const answer = await sendCount(call, prepared, sink, room);
  call.attempts.push({
    upstream: route.upstream.name,
    key_index: keyIndex,
    status: answer.status,
    error_code: answer.tokens === null ? 'no_count' : null,
    duration_ms: Math.round(performance.now() - began),
  });
  return answer.tokens;
}
