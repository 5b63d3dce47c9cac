/** Prices a reply that took several calls of upstreams, or searches. Other rows are priced where they are stored; a row that has a cost is not priced again. */
import type { RequestRow, Usage } from '@model-gateway/contracts';
import { costOfCall, costOfRow, type PriceOf } from '@model-gateway/model-catalog';
import type { SearchPrice } from '../hosted-tools/hosted-reply.ts';

/** One call of an upstream for a reply. */
export interface PaidCall {
  /** Canonical name. */
  model: string;
  upstreamModelId: string | null;
  tokens: Usage;
}

/** What was paid for a reply. */
export interface Paid {
  /** In order, the last one answered. Empty: there was a single one. */
  calls: readonly PaidCall[];
  searched: SearchPrice | null;
}

export function priceReply(row: RequestRow, { calls, searched }: Paid, priceOf: PriceOf): RequestRow {
  const priced = calls.length > 0 ? withCalls(row, calls, priceOf) : row;
  return searched && searched.micros > 0 ? withSearches(priced, searched, priceOf) : priced;
}

/** Each call is a request to its vendor: a tier by length holds for it alone, and one that was given up has its own model's price. */
function withCalls(row: RequestRow, calls: readonly PaidCall[], priceOf: PriceOf): RequestRow {
  const costs: SearchPrice[] = [];
  const seen = new Set<string>();
  for (const { model, upstreamModelId, tokens } of calls.toReversed()) {
    const price = priceOf({ name: model, upstreamModelId: upstreamModelId ?? model }, row.started_at);
    const isRepeated = seen.has(model);
    seen.add(model);
    // What is priced by the piece is so for the reply, however many calls it took.
    if (!price || (price.mode !== 'per_token' && isRepeated)) continue;
    const micros = costOfCall(price, tokens, { priceOf, at: row.started_at });
    if (micros !== null) costs.push({ micros, currency: price.currency });
  }
  // A cost has one currency: that of the model that answered.
  const currency = costs[0]?.currency;
  if (currency === undefined) return row;
  const micros = costs.reduce((sum, cost) => sum + (cost.currency === currency ? cost.micros : 0), 0);
  return { ...row, cost_micros: micros, currency };
}

/** Searches that are paid in another currency than the model are not added. */
function withSearches(row: RequestRow, searched: SearchPrice, priceOf: PriceOf): RequestRow {
  const { micros, currency } = costOf(row, priceOf) ?? { micros: 0, currency: searched.currency };
  return currency === searched.currency ? { ...row, cost_micros: micros + searched.micros, currency } : row;
}

/** null: it has no price, or used nothing that anybody counted. */
function costOf(row: RequestRow, priceOf: PriceOf): SearchPrice | null {
  if (row.cost_micros !== null && row.currency !== null) return { micros: row.cost_micros, currency: row.currency };
  const name = row.routes.at(-1) ?? row.model ?? '';
  const price = row.usage_source === null ? null : priceOf({ name, upstreamModelId: row.upstream_model_id ?? name }, row.started_at);
  const micros = price ? costOfRow(price, row, priceOf) : null;
  return price && micros !== null ? { micros, currency: price.currency } : null;
}
