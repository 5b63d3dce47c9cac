/** The single retry when an upstream refuses feature flags: once more without them, on the same node and key. */
import { prepare } from '../prepare/prepare.ts';
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import type { AttemptContext } from './attempt-context.ts';
import type { AttemptEnd } from './result.ts';

/** The request to send again without the flags that were refused; null when this end was about something else. */
export async function withoutFlags(attempt: AttemptContext, sent: UpstreamRequest, end: AttemptEnd): Promise<UpstreamRequest | null> {
  const { request, record, route, deps } = attempt;
  const { adapter, verbatim, signaturesRefused } = sent.target;
  if (end.fault === null || end.committed || !verbatim || !adapter.refusedFlags) return null;
  const { refusedFlags } = deps.prepare;
  const flags = adapter.refusedFlags(end.fault, request.job.headers);
  const known = refusedFlags.of(route);
  if (flags.every((flag) => known?.has(flag))) return null;
  refusedFlags.learn(route, flags);
  deps.send.logger.info(
    { request: request.job.id, upstream: route.upstream.name, model: route.model.name, flags },
    'feature flags were refused: asked again without them',
  );
  const again = await prepare(attempt, signaturesRefused);
  record.meter.reset();
  return again;
}
