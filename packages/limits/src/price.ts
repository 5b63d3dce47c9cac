/** What a model costs: the hook that budgets ask, and how a price becomes money. */
import type { Usage } from '@model-gateway/contracts';

/** Millionths of the currency for a million tokens. */
export interface Price {
  currency: string;
  input: number;
  output: number;
  /** Absent: as input. */
  cacheRead?: number;
  cacheWrite5m?: number;
}

/** null: not known, which reserves and costs nothing. */
export type PriceOf = (model: { name: string; upstreamModelId: string }) => Price | null;

type Counts = Pick<Usage, 'input' | 'output' | 'cacheRead' | 'reasoning'> & { cacheWrite: number };

/** In millionths, rounded up: a budget never gains by rounding. Reasoning is paid as output. */
export function costOf(price: Price, counts: Counts): number {
  const { input, output, cacheRead = input, cacheWrite5m = input } = price;
  const sum =
    times(counts.input, input) + times(counts.output + counts.reasoning, output) + times(counts.cacheRead, cacheRead) + times(counts.cacheWrite, cacheWrite5m);
  return Number((sum + 999_999n) / 1_000_000n);
}

/** Counts come from upstreams: one that is no whole number must not break a bill. */
const times = (count: number, price: number): bigint => (count > 0 && Number.isFinite(count) ? BigInt(Math.ceil(count)) * BigInt(Math.round(price)) : 0n);

/** Tokens of a reply nobody has seen yet. */
const expectedOutput = 4096;
/** Bytes of a request to a token. */
const bytesPerToken = 4;

/** What a request may cost before anything of its reply is known. */
export const reservationOf = (price: Price, requestBytes: number): number =>
  costOf(price, { input: Math.ceil(requestBytes / bytesPerToken), output: expectedOutput, cacheRead: 0, cacheWrite: 0, reasoning: 0 });
