/** Adds the cost of searches to their request's row; a row that has a cost is not priced again. */
import type { RequestRow } from '@model-gateway/contracts';
import { costOfRow, type PriceOf } from '@model-gateway/model-catalog';
import type { SearchPrice } from './hosted-reply.ts';

/** A cost has one currency: searches that are paid in another than the model are not added to it. */
export function withSearches(row: RequestRow, searched: SearchPrice | null, priceOf: PriceOf): RequestRow {
  if (!searched || searched.micros === 0) return row;
  const name = row.routes.at(-1) ?? row.model ?? '';
  const price = row.usage_source === null ? null : priceOf({ name, upstreamModelId: row.upstream_model_id ?? name }, row.started_at);
  const cost = price ? costOfRow(price, row, priceOf) : null;
  if (!price || cost === null) return { ...row, cost_micros: searched.micros, currency: searched.currency };
  return price.currency === searched.currency ? { ...row, cost_micros: cost + searched.micros, currency: price.currency } : row;
}
