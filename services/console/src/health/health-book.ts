/** How everything stands: read from statistics at most once in a few seconds, however many lists ask. */
import { grainMs, type RecentAnswer, type StatsGroup, type Storage, startOf } from '@model-gateway/storage';
import { degradedShare, failingShare, noState, type ResourceState, stateOfAttempts } from './state-of-attempts.ts';

/** States of what attempts are made with. */
export interface AttemptStates {
  upstream(name: string): ResourceState;
  /** `key`: stable id of the entry. */
  key(upstream: string, key: string): ResourceState;
  model(name: string): ResourceState;
}

export interface HealthBook {
  attempts(): Promise<AttemptStates>;
  /** Of access keys or groups, by their requests of this hour and the one before; those without requests are left out. */
  requests(of: 'access_key' | 'key_group', names: readonly string[]): Promise<ReadonlyMap<string, ResourceState>>;
}

const windowMs = 15 * grainMs.minute;
const backMs = 6 * grainMs.hour;
const seenDays = 30;
const keptMs = 2_000;

export function createHealthBook({ requests }: Pick<Storage, 'requests'>, now: () => number): HealthBook {
  let known: { until: number; states: Promise<AttemptStates> } | undefined;
  const read = async (): Promise<AttemptStates> => statesOf(await requests.readRecentAttempts({ at: now(), window: windowMs, back: backMs, seenDays }));
  return {
    attempts() {
      if (known && now() < known.until) return known.states;
      const states = read();
      known = { until: now() + keptMs, states };
      states.catch(() => {
        known = undefined;
      });
      return states;
    },
    async requests(of, names) {
      if (names.length === 0) return new Map();
      const range = { from: startOf(now() - grainMs.hour, 'hour'), to: startOf(now(), 'hour') + grainMs.hour, grain: 'hour' as const };
      const by = { dimension: of, order: 'requests' as const, limit: names.length, values: names };
      const groups = await requests.readStats({ ...range, filters: {}, overTime: false, by });
      return new Map(groups.map((group) => [group.value ?? '', stateOfRequests(group)]));
    },
  };
}

function statesOf({ recent, seen }: RecentAnswer): AttemptStates {
  const by = (idOf: (one: { upstream: string; key: string; model: string }) => string) => {
    const found = Map.groupBy(recent, idOf);
    const known = new Set(seen.map(idOf));
    return (id: string): ResourceState => stateOfAttempts(found.get(id) ?? [], found.has(id) || known.has(id));
  };
  const keyId = (upstream: string, key: string) => `${upstream}\u0000${key}`;
  const [upstream, model, key] = [by((one) => one.upstream), by((one) => one.model), by((one) => keyId(one.upstream, one.key))];
  return { upstream, model, key: (of, id) => key(keyId(of, id)) };
}

/** Hours are the finest that statistics keep for each key. */
function stateOfRequests({ measures: { requests, errors }, duration }: StatsGroup): ResourceState {
  const share = requests === 0 ? 0 : errors / requests;
  const status = requests === 0 ? 'idle' : share > failingShare ? 'failing' : share >= degradedShare ? 'degraded' : 'healthy';
  return { ...noState(status), attempts: requests, failed: errors, p50_ms: duration.p50 };
}
