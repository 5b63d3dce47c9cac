/** Puts the price on a row that came without one. What a row costs is decided here, once: a later change of prices changes no row. */
import type { RequestRow } from '@model-gateway/contracts';
import { costOfRow, type PriceOf } from '@model-gateway/model-catalog';

export function priceRow(row: RequestRow, priceOf: PriceOf): RequestRow {
  if (row.cost_micros !== null || row.usage_source === null || row.model === null) return row;
  // What served is paid for, whatever was asked for. Rows of an earlier version have no routes.
  const name = row.routes?.at(-1) ?? row.model;
  const price = priceOf({ name, upstreamModelId: row.upstream_model_id ?? name }, row.started_at);
  const cost = price && costOfRow(price, row, priceOf);
  return price && cost !== null ? { ...row, cost_micros: cost, currency: price.currency } : row;
}
