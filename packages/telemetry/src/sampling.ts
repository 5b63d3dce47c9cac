/** Which requests are traced, according to OTEL_TRACES_SAMPLER. */
import type { TraceParent } from './trace-context.ts';

/** Decides for a request with this parent, or with none. */
type Decide = (parent: TraceParent | undefined) => boolean;

const wholeRange = 2 ** 56;

/** By the caller's trace id where there is one, so that every service with this share samples the same traces; the last 56 bits of the id are random. */
const ratio =
  (share: number, random: () => number): Decide =>
  (parent) =>
    parent ? Number.parseInt(parent.traceId.slice(-14), 16) >= (1 - share) * wholeRange : random() < share;
const always: Decide = () => true;
const never: Decide = () => false;
const asParentOr =
  (root: Decide): Decide =>
  (parent) =>
    parent ? parent.sampled : root(undefined);

const samplers = {
  always_on: () => always,
  always_off: () => never,
  traceidratio: ratio,
  parentbased_always_on: () => asParentOr(always),
  parentbased_always_off: () => asParentOr(never),
  parentbased_traceidratio: (share, random) => asParentOr(ratio(share, random)),
} satisfies Record<string, (share: number, random: () => number) => Decide>;

export type SamplerName = keyof typeof samplers;

/** `share` is between 0 and 1, `random` gives numbers from 0 up to 1. */
export const createSampler = (name: SamplerName, share: number, random: () => number = Math.random): Decide => samplers[name](share, random);
