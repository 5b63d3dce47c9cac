/** Costs by day, and by what they are grouped by. */
import type { BudgetStatus, SeriesAnswer, TopAnswer } from '@model-gateway/console/answers';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import type { Query } from '../../api/stats.ts';
import { type Days, startsOf } from './months.ts';

export const groupings = ['key_group', 'access_key', 'tag', 'model', 'upstream'] as const;
export type Grouping = (typeof groupings)[number];

const refreshMs = 60_000;
/** The most expensive have a colour each, the rest one together. */
export const maxGroups = 8;
/** The most expensive are rows of the table. */
export const maxRows = 100;

const useStats = <T>(name: string, query: Query) =>
  useQuery({
    queryKey: ['costs', name, query],
    queryFn: ({ signal }) => call<T>(`stats/${name}`, { query, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  });

export const costQuery = ({ from, to }: Days, by?: Grouping): Query => ({
  from,
  to,
  granularity: 'day',
  ...(by && { by, order: 'cost', limit: maxGroups }),
});

export const useDailyCosts = (days: Days, by?: Grouping) => useStats<SeriesAnswer>('series', costQuery(days, by));
export const useTopCosts = ({ from, to }: Days, by: Grouping) => useStats<TopAnswer>('top', { from, to, by, order: 'cost', limit: maxRows });

export const useBudgets = () =>
  useQuery({
    queryKey: ['budgets'],
    queryFn: ({ signal }) => call<{ items: BudgetStatus[]; total: number }>('budgets', { signal }),
    refetchInterval: refreshMs,
  });

type Costly = { cost: readonly { currency: string; cost_micros: number }[] };

export const microsOf = ({ cost }: Costly, currency: string): number => cost.find((one) => one.currency === currency)?.cost_micros ?? 0;
export const sumOf = (items: readonly Costly[], currency: string): number => items.reduce((sum, item) => sum + microsOf(item, currency), 0);

/** Those in which anything was spent, the one with the most first. */
export function currenciesOf(items: readonly Costly[]): string[] {
  const found = new Set(items.flatMap(({ cost }) => cost.map(({ currency }) => currency)));
  return [...found].sort((one, other) => sumOf(items, other) - sumOf(items, one));
}

/** One group over all days; `rest`: all others together. */
export interface CostStack {
  value: string | null;
  rest: boolean;
  micros: number[];
}

/** The groups in the order of what they cost; what all days cost beyond them is the rest. */
export function stacksOf(days: Days, grouped: SeriesAnswer, whole: SeriesAnswer, currency: string): CostStack[] {
  const starts = startsOf(days);
  const place = new Map(starts.map((start, at) => [start, at]));
  const found = new Map<string | null, number[]>();
  const rest = starts.map(() => 0);
  for (const item of whole.items) {
    const at = place.get(item.start);
    if (at !== undefined) rest[at] = microsOf(item, currency);
  }
  for (const item of grouped.items) {
    const at = place.get(item.start);
    if (at === undefined) continue;
    const micros = found.get(item.value ?? null) ?? starts.map(() => 0);
    micros[at] = microsOf(item, currency);
    rest[at] = (rest[at] ?? 0) - microsOf(item, currency);
    found.set(item.value ?? null, micros);
  }
  const total = ({ micros }: CostStack): number => micros.reduce((sum, one) => sum + one, 0);
  const stacks = [...found].map(([value, micros]) => ({ value, rest: false, micros })).filter((stack) => total(stack) > 0);
  const others = { value: null, rest: true, micros: rest.map((micros) => Math.max(0, micros)) };
  return [...stacks.sort((one, other) => total(other) - total(one)), ...(total(others) > 0 ? [others] : [])];
}
