/** What models cost by the newest configuration: an admin's prices, else what is known of their families. */
import type { CatalogWatcher } from '@model-gateway/catalog';
import type { Snapshot } from '@model-gateway/contracts';
import { createPriceBook, type PriceBook, type PricedModel, type PriceOf } from '@model-gateway/model-catalog';

/** A book is made when prices were edited; snapshots share the index where they were not. */
export function createPriceOf(catalog: () => Pick<CatalogWatcher, 'current'>): PriceOf {
  let book: PriceBook = createPriceBook([]);
  let source: Snapshot['pricing'] | undefined;
  return (model, at = Date.now()) => {
    const snapshot = catalog().current();
    if (snapshot && snapshot.pricing !== source) {
      source = snapshot.pricing;
      book = createPriceBook(snapshot.pricing.values());
    }
    return book.find(withProfiledId(model, snapshot), at);
  };
}

/** Profiles that people make at the cloud host are numbered: only the configuration tells which model is behind one. */
function withProfiledId(model: PricedModel, snapshot: Snapshot | null): PricedModel {
  const known = snapshot?.models.get(model.name);
  return known && known.inference_profile === model.upstreamModelId ? { ...model, profiledId: known.upstream_model_id } : model;
}
