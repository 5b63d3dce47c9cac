/** Why one request failed: whose fault, the upstream's own words, and how often the same happened lately. */
import type { RequestRow } from '@model-gateway/contracts';
import type { RequestStats } from '@model-gateway/storage';
import { type Fault, faultOf } from './fault-of.ts';

/** What is known of one failure. Its code is the row's. */
export interface Failure {
  fault: Fault;
  /** The upstream that failed last; null: none was asked. */
  upstream: string | null;
  /** What that upstream said, where it said anything. */
  said: string | null;
  /** Requests that ended with the same code. */
  recent: {
    from: number;
    to: number;
    requests: number;
    /** There were more than could be counted. */
    or_more: boolean;
    upstreams: { upstream: string | null; requests: number }[];
  };
}

const recentMs = 3_600_000;
/** As many rows as are counted; more need no exact figure. */
const maxCounted = 500;

/** `shown`: the upstream's words are opened. null: it did not fail. */
export async function explainFailure(
  shown: Pick<RequestRow, 'error_code' | 'attempts'>,
  requests: Pick<RequestStats, 'listRows'>,
  now: number,
): Promise<Failure | null> {
  const { error_code: code, attempts } = shown;
  if (code === null) return null;
  const last = attempts.findLast(({ error_code }) => error_code !== null);
  return {
    fault: faultOf(code, attempts.length > 0),
    upstream: last?.upstream ?? null,
    said: last?.message ?? null,
    recent: await countRecent(code, requests, now),
  };
}

async function countRecent(errorCode: string, requests: Pick<RequestStats, 'listRows'>, now: number): Promise<Failure['recent']> {
  const range = { from: now - recentMs, to: now };
  const { items, nextCursor } = await requests.listRows({ filters: { ...range, errorCode, failed: true }, limit: maxCounted });
  const counted = new Map<string | null, number>();
  for (const row of items) counted.set(upstreamOf(row), (counted.get(upstreamOf(row)) ?? 0) + 1);
  const upstreams = [...counted].map(([upstream, count]) => ({ upstream, requests: count })).sort((one, other) => other.requests - one.requests);
  return { ...range, requests: items.length, or_more: nextCursor !== null, upstreams };
}

const upstreamOf = ({ upstream, attempts }: RequestRow): string | null => upstream ?? attempts.at(-1)?.upstream ?? null;
