/** What models cost by the newest configuration: an admin's prices, else what is known of their families. */
import type { CatalogWatcher } from '@model-gateway/catalog';
import type { Snapshot } from '@model-gateway/contracts';
import { createPriceBook, type PriceBook, type PriceOf } from '@model-gateway/model-catalog';

/** A book is made when prices were edited; snapshots share the index where they were not. */
export function createPriceOf(catalog: () => CatalogWatcher): PriceOf {
  let book: PriceBook = createPriceBook([]);
  let source: Snapshot['pricing'] | undefined;
  return (model, at = Date.now()) => {
    const pricing = catalog().current()?.pricing;
    if (pricing !== undefined && pricing !== source) {
      source = pricing;
      book = createPriceBook(pricing.values());
    }
    return book.find(model, at);
  };
}
