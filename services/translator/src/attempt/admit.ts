/** Takes the lease of an attempt: at once where nothing is limited, after a wait in line where something is. */
import type { Route } from '@model-gateway/routing';
import type { Call } from '../call.ts';
import type { TranslatorContext } from '../context.ts';
import type { Admission } from '../limits/lease.ts';
import type { ReplySink } from '../reply-sink.ts';

/** On a load balancer nothing waits: another node may be free. When the caller leaves the queue, the refusal is dropped. */
export const admit = (call: Call, route: Route, sink: ReplySink, context: TranslatorContext): Admission | Promise<Admission> =>
  context.limiter.acquire(route, {
    accessKey: call.job.accessKey,
    requestBytes: call.body.length,
    replyTokens: () => replyTokens(call),
    mayWait: !call.plan.balanced,
    onLeave: (leave) => sink.onCancel(leave),
  });

function replyTokens(call: Call): number | undefined {
  const { output, replies = 1 } = call.client.readReplyLimits?.((key) => call.topLevel(key)) ?? {};
  return output === undefined ? undefined : output * replies;
}
