/** What was promised to callers of a gateway under faults, and what they saw. */
import { speakers, validate } from '../../packages/protocols/test/laws/harness.ts';
import type { FakeUpstream } from '../fake-upstream/index.ts';
import { type Exchange, sleep } from '../support/callers.ts';
import type { TestGateway } from '../support/gateway.ts';
import type { Fault } from './faults.ts';

/** One promise: how many times it was put to the test, and the first few times that it was broken. */
export interface Verdict {
  promise: string;
  tries: number;
  broken: string[];
}

/** When a fault began and ended, by `performance.now()`, and whose connections it may break. */
export interface Window {
  from: number;
  to: number;
  hits: Fault['hits'];
  losesRuns: boolean;
}

const isDuring = ({ startedAt, endedAt }: Exchange, { from, to }: Window): boolean => startedAt <= to && (endedAt ?? Number.POSITIVE_INFINITY) >= from;
const touches = (one: Exchange, windows: readonly Window[]): boolean =>
  windows.some((window) => isDuring(one, window) && (window.hits === 'all' || (window.hits !== 'none' && window.hits.edge === one.edge)));
const describe = (one: Exchange): string =>
  `${one.client} ${one.id}: ${one.status} ${one.ending}, ${one.bytes} bytes${one.status === 200 ? '' : ` ${one.text.slice(0, 200)}`}`;

/** Streams that got their 200 end as their protocol says, completed or with its own error. */
export function judgeEndings(all: readonly Exchange[], windows: readonly Window[]): Verdict {
  const tried = all.filter((one) => one.status === 200 && one.headers['content-type']?.includes('event-stream') && one.ending !== 'left');
  const broken = tried.filter((one) => {
    if (one.ending === 'broken') return !touches(one, windows);
    return validate(speakers.find(({ id }) => id === one.client)!, one.text).length > 0;
  });
  return { promise: 'a stream ends as its protocol says', tries: tried.length, broken: broken.map(describe) };
}

/** A caller gets an answer, if only a refusal. */
export function judgeAnswers(all: readonly Exchange[], windows: readonly Window[]): Verdict {
  const broken = all.filter((one) => one.status === null && one.ending !== 'left' && !touches(one, windows));
  return { promise: 'a request is answered', tries: all.length, broken: broken.map(describe) };
}

/**
 * What was answered 503 did not reach an upstream, unless it is told as an orphan. A translator that is killed tells nothing: of what it ran the edge's row
 * says that it was lost.
 */
export async function judgeRefusals(
  all: readonly { one: Exchange; nonce: string }[],
  windows: readonly Window[],
  { upstream, gateway }: { upstream: FakeUpstream; gateway: TestGateway },
): Promise<Verdict> {
  const died = windows.filter(({ losesRuns }) => losesRuns);
  const refused = all.filter(({ one }) => one.status === 503);
  const ran = new Set(upstream.requests.flatMap(({ body }) => body.toString().match(/nonce-\d+-nonce/g) ?? []));
  const suspects = refused.filter(({ nonce }) => ran.has(nonce));
  if (suspects.length === 0) return { promise: 'what was answered 503 was not run', tries: refused.length, broken: [] };
  // The last fault may just be over: rows are asked for until they tell all of it, or for a minute.
  let untold = suspects;
  for (const end = performance.now() + 60_000; untold.length > 0 && performance.now() < end; await sleep(500)) {
    const rows = await gateway.rows().catch(() => []);
    const idsOf = (some: typeof rows): Set<string | null> => new Set(some.map(({ client_request_id }) => client_request_id));
    const told = idsOf(rows.filter(({ kind }) => kind === 'orphan'));
    const lost = idsOf(rows.filter(({ error_code }) => error_code === 'service_lost'));
    untold = suspects.filter(({ one }) => !told.has(one.id) && !(lost.has(one.id) && died.some((window) => isDuring(one, window))));
  }
  return { promise: 'what was answered 503 was not run', tries: refused.length, broken: untold.map(({ one }) => describe(one)) };
}

/** A check of the test's own that throws where it is broken. */
export async function judgeCheck(promise: string, tries: number, check: () => Promise<void>): Promise<Verdict> {
  try {
    await check();
    return { promise, tries, broken: [] };
  } catch (error) {
    return { promise, tries, broken: [error instanceof Error ? error.message : String(error)] };
  }
}
