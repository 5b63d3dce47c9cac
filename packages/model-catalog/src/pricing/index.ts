/** What a request costs, by the prices that an admin set or that are known of its model. */
export { costOf, costOfCall, costOfRow } from './cost.ts';
export { countFiles, findInlineFiles, type InlineFiles, shortestFile } from './inline-files.ts';
export {
  fromRecord,
  fromReference,
  type Price,
  type PricedModel,
  type PriceOf,
  type Tier,
  type TokenPrices,
  type UnitCounts,
} from './price.ts';
export { createPriceBook, type PriceBook } from './price-book.ts';
export { type Expected, expectTokens, type RepeatedCalls, reservationOf, reservationOfCalls } from './reservation.ts';
