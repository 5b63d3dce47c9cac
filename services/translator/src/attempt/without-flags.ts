/** The single retry when an upstream refuses feature flags: once more without them, on the same node and key. */
import type { Call } from '../call.ts';
import type { TranslatorContext } from '../context.ts';
import { type Prepared, prepare } from '../prepare.ts';
import type { AttemptEnd } from './send.ts';

/** The request to send again without the flags that were refused; null when this end was about something else. */
export async function withoutFlags(call: Call, prepared: Prepared, end: AttemptEnd, context: TranslatorContext): Promise<Prepared | null> {
  const { upstream, route } = prepared;
  if (end.fault === null || end.committed || !prepared.verbatim || !upstream.refusedFlags) return null;
  const flags = upstream.refusedFlags(end.fault, call.job.headers);
  const known = context.refusedFlags.of(route);
  if (flags.every((flag) => known?.has(flag))) return null;
  context.refusedFlags.learn(route, flags);
  context.logger.info(
    { request: call.job.id, upstream: route.upstream.name, model: route.model.name, flags },
    'feature flags were refused: asked again without them',
  );
  const again = await prepare(call, route, context, prepared.signaturesRefused);
  call.meter.reset();
  return again;
}
