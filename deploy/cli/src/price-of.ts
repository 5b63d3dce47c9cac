/** What a model costs by what is known of its family; remembered, since a look-up walks the whole table. */
import type { Price, PriceOf } from '@model-gateway/limits';
import { findFamily } from '@model-gateway/model-families';

const mostRemembered = 10_000;

export function createPriceOf(): PriceOf {
  const known = new Map<string, Price | null>();
  return ({ name, upstreamModelId }) => {
    const id = `${upstreamModelId}\u0000${name}`;
    let price = known.get(id);
    if (price === undefined) {
      price = findFamily(upstreamModelId, name).prices;
      if (known.size >= mostRemembered) known.clear();
      known.set(id, price);
    }
    return price;
  };
}
