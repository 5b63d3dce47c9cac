/** Puts the price on a row that came without one. */
import type { RequestRow } from '@model-gateway/contracts';
import { costOf, type PriceOf } from '@model-gateway/limits';

export function priceRow(row: RequestRow, priceOf: PriceOf): RequestRow {
  if (row.cost_micros !== null || row.usage_source === null || row.model === null) return row;
  const price = priceOf({ name: row.model, upstreamModelId: row.upstream_model_id ?? row.model });
  if (!price) return row;
  const { input_tokens: input, output_tokens: output, cache_read_tokens: cacheRead, cache_write_tokens: cacheWrite, reasoning_tokens: reasoning } = row;
  return { ...row, cost_micros: costOf(price, { input, output, cacheRead, cacheWrite, reasoning }), currency: price.currency };
}
