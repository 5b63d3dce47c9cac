/** The health of upstreams as it is read, and tests as they run. */
import type { Health, UpstreamTest } from '@model-gateway/console/answers';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, path } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';

const refreshMs = 5_000;
/** Tests that run at once. */
const atOnce = 3;

export const useHealth = (wanted = true) =>
  useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => call<Health>('health', { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
    enabled: wanted,
  });

/** What is known of tests: `pending` of those that wait or run. */
export type TestOutcome = UpstreamTest | 'pending';

export interface Tests {
  outcomes: ReadonlyMap<string, TestOutcome>;
  running: number;
  all: number;
  run(names: readonly string[]): Promise<void>;
}

const failedCall = (upstream: string, error: unknown): UpstreamTest => ({
  upstream,
  model: upstream,
  ok: false,
  status: error instanceof ApiProblem ? error.status : 0,
  latency_ms: null,
  request_id: null,
  message: error instanceof Error ? error.message : String(error),
});

export function useTests(): Tests {
  const client = useQueryClient();
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, TestOutcome>>(new Map());
  const [all, setAll] = useState(0);
  const note = (name: string, outcome: TestOutcome) => setOutcomes((known) => new Map(known).set(name, outcome));
  const test = async (name: string) => {
    const outcome = await call<UpstreamTest>(path('upstreams', name, 'test'), { method: 'POST' }).catch((error: unknown) => failedCall(name, error));
    note(name, outcome);
  };
  const running = [...outcomes.values()].filter((outcome) => outcome === 'pending').length;
  return {
    outcomes,
    all,
    running,
    async run(names) {
      // What is added while others run is counted with them.
      setAll((before) => (running > 0 ? before + names.length : names.length));
      for (const name of names) note(name, 'pending');
      const waiting = [...names];
      const work = async () => {
        for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await test(name);
      };
      await Promise.all(Array.from({ length: atOnce }, work));
      await client.invalidateQueries({ queryKey: ['health'] });
    },
  };
}
