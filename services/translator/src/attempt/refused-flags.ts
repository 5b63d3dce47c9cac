/**
 * Feature flags that upstreams refused: asked once more without them at once, and not sent again for a while. An upstream learns new flags, and a
 * refusal may be about one account, so nothing is remembered for long.
 */
import type { Route } from '@model-gateway/routing';
import type { Call } from '../call.ts';
import type { TranslatorContext } from '../context.ts';
import { type Prepared, prepare } from '../prepare.ts';
import type { AttemptEnd } from './send.ts';

const rememberedMs = 60 * 60 * 1000;
const maxPositions = 1000;
const maxFlags = 64;

interface Refused {
  flags: ReadonlySet<string>;
  until: number;
}

export class RefusedFlags {
  readonly #places = new Map<string, Refused>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** undefined for nearly all, at the cost of one comparison. */
  of(route: Route): ReadonlySet<string> | undefined {
    if (this.#places.size === 0) return undefined;
    const id = idOf(route);
    const place = this.#places.get(id);
    if (!place) return undefined;
    if (place.until > this.#now()) return place.flags;
    this.#places.delete(id);
    return undefined;
  }

  learn(route: Route, flags: readonly string[]): void {
    const known = this.of(route) ?? [];
    if (this.#places.size >= maxPositions) this.#places.clear();
    this.#places.set(idOf(route), { flags: new Set([...flags, ...known].slice(0, maxFlags)), until: this.#now() + rememberedMs });
  }
}

const idOf = ({ upstream, model }: Route): string => `${model.name}\u0000${upstream.name}`;

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
