/** The state of an upstream, a key entry or a model, read from what became of its latest attempts. */
import { harmlessOutcomes, medianOf, type RecentAttempts } from '@model-gateway/storage';

/**
 * `refused`: its credential is not accepted; `limited`: it asks to wait; `failing`: the latest attempts failed; `degraded`: some do; `idle`: not tried lately;
 * `unused`: not tried for as long as statistics look back. Of access keys and groups also `expired` and `exhausted` (their budget is spent).
 */
export const stateNames = ['disabled', 'expired', 'exhausted', 'refused', 'failing', 'limited', 'degraded', 'healthy', 'idle', 'unused'] as const;
export type StateName = (typeof stateNames)[number];

/** How it stands, and the figures that say so. */
export interface ResourceState {
  status: StateName;
  /** Since when it fails, is limited or refused: to the minute. ISO 8601. */
  since: string | null;
  /** Of the last quarter of an hour; requests, where it is a key or a group. */
  attempts: number;
  failed: number;
  p50_ms: number | null;
  /** `http_` and the status, or a word. */
  last_error: string | null;
}

/** The same words as statistics have. */
const wentWell = 'ok';
/** Neither a success nor a fault of the upstream: also what callers sent that no upstream would take. */
const saysNothing: ReadonlySet<string> = new Set([...harmlessOutcomes, 'http_400', 'http_413', 'http_422']);

/** From these shares of failures on. */
export const degradedShare = 0.1;
export const failingShare = 0.5;

export const noState = (status: StateName): ResourceState => ({ status, since: null, attempts: 0, failed: 0, p50_ms: null, last_error: null });

/** `seen`: it was tried at some time. */
export function stateOfAttempts(found: readonly RecentAttempts[], seen: boolean): ResourceState {
  const own = found.filter(({ outcome }) => !saysNothing.has(outcome));
  const good = own.filter(({ outcome }) => outcome === wentWell);
  const bad = own.filter(({ outcome }) => outcome !== wentWell);
  const [attempts, failed] = [sum(found), sum(bad)];
  if (attempts === 0) return noState(seen ? 'idle' : 'unused');
  const figures = { attempts, failed, p50_ms: medianOf(found.map(({ durations }) => durations)) };
  const lastGood = Math.max(...good.map(({ last }) => last));
  const latest = bad.filter((one) => one.attempts > 0).sort((one, other) => other.last - one.last || other.attempts - one.attempts)[0];
  // What callers sent wrongly shows nothing of the upstream.
  if (!latest) return { ...noState(sum(good) > 0 ? 'healthy' : seen ? 'idle' : 'unused'), ...figures };
  const share = failed / (failed + sum(good));
  const last_error = latest.outcome;
  // What works since is over, however much failed before.
  if (latest.last < lastGood || share <= failingShare) return { ...noState(share < degradedShare ? 'healthy' : 'degraded'), ...figures, last_error };
  const first = Math.min(...bad.map((one) => one.first));
  return { status: statusOf(bad), since: new Date(Math.max(lastGood, first)).toISOString(), ...figures, last_error };
}

const sum = (found: readonly RecentAttempts[]): number => found.reduce((all, { attempts }) => all + attempts, 0);

/** What most of the failures are. */
function statusOf(bad: readonly RecentAttempts[]): StateName {
  const of = (...outcomes: string[]): number => sum(bad.filter(({ outcome }) => outcomes.includes(outcome)));
  const [refused, limited] = [of('http_401', 'http_403'), of('http_429')];
  const others = sum(bad) - refused - limited;
  if (refused > limited && refused >= others) return 'refused';
  return limited > 0 && limited >= others ? 'limited' : 'failing';
}

/** Of several things of which one is enough, as the entries of a load balancer. */
export function stateOfMany(states: readonly ResourceState[]): ResourceState {
  const enabled = states.filter(({ status }) => status !== 'disabled');
  if (enabled.length === 0) return noState('disabled');
  const tried = enabled.filter(({ status }) => status !== 'idle' && status !== 'unused');
  if (tried.length === 0) return noState(enabled.some(({ status }) => status === 'idle') ? 'idle' : 'unused');
  const figures = {
    attempts: tried.reduce((all, { attempts }) => all + attempts, 0),
    failed: tried.reduce((all, { failed }) => all + failed, 0),
    last_error: tried.find(({ last_error }) => last_error !== null)?.last_error ?? null,
  };
  const broken = tried.filter((one) => isBroken(one.status));
  const [first] = broken;
  if (!first) return { ...noState(tried.some(({ status }) => status === 'degraded') ? 'degraded' : 'healthy'), ...figures };
  // One that is not tried now may still answer.
  if (broken.length < enabled.length) return { ...noState('degraded'), ...figures };
  return {
    ...noState(first.status),
    ...figures,
    since:
      broken
        .map(({ since }) => since)
        .sort()
        .at(-1) ?? null,
  };
}

export const isBroken = (status: StateName): boolean => status === 'failing' || status === 'limited' || status === 'refused';
