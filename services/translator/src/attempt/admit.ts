/** Takes the lease of an attempt: at once where nothing is limited, after a wait in line where something is. */
import type { Admission } from '@model-gateway/distributed-state';
import type { CurrentRequest } from '../request/current.ts';
import type { AttemptContext } from './attempt-context.ts';

/** On a load balancer nothing waits: another node may be free. When the caller leaves the queue, the refusal is dropped. */
export const admit = ({ request, body, plan, route, deps }: AttemptContext): Admission | Promise<Admission> =>
  deps.balance.limiter.acquire(route, {
    accessKey: request.job.accessKey,
    requestTokens: () => body.limitTokens(),
    replyTokens: () => replyTokens({ request, body }),
    mayWait: !plan.plan.balanced,
    onLeave: (leave) => request.cancellation.onCancel(leave),
  });

function replyTokens({ request, body }: Pick<CurrentRequest, 'request' | 'body'>): number | undefined {
  const { output, replies = 1 } = request.client.readReplyLimits?.((key) => body.topLevel(key)) ?? {};
  return output === undefined ? undefined : output * replies;
}
