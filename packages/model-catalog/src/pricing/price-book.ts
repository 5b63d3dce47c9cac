/** Which price holds for a model at a time: an admin's most specific record, else what is known of the family. */

import type { Pricing } from '@model-gateway/contracts';
import { LRUCache } from 'lru-cache';
import { bareId, findFamily, matchPieces } from '../families/index.ts';
import { fromRecord, fromReference, type Price, type PricedModel } from './price.ts';

export interface PriceBook {
  /** `at`: ms since the epoch. */
  find(model: PricedModel, at: number): Price | null;
}

interface Entry {
  pieces: readonly string[];
  weight: number;
  from: number;
  price: Price;
}

/** Answers are remembered: a book is made anew with each change of the configuration, and models are few. */
const maxRemembered = 10_000;

export function createPriceBook(records: Iterable<Pricing>): PriceBook {
  const entries = [...records]
    .filter(({ enabled }) => enabled)
    .map(toEntry)
    .sort(compare);
  const known = new LRUCache<string, { candidates: readonly Entry[]; reference: Price | null }>({ max: maxRemembered });
  return {
    find(model, at) {
      const id = `${model.upstreamModelId}\u0000${model.name}\u0000${model.profiledId ?? ''}`;
      let found = known.get(id);
      if (!found) {
        found = look(entries, model);
        known.set(id, found);
      }
      return found.candidates.find(({ from }) => from <= at)?.price ?? found.reference;
    },
  };
}

function toEntry(record: Pricing): Entry {
  const pattern = record.model.toLowerCase();
  const from = record.valid_from === null ? Number.NEGATIVE_INFINITY : Date.parse(record.valid_from);
  return { pieces: pattern.split('*'), weight: weightOf(pattern), from, price: fromRecord(record) };
}

/** A name without a star is more specific than any pattern, however long. */
const weightOf = (pattern: string): number => (pattern.includes('*') ? pattern.replaceAll('*', '').length : Number.MAX_SAFE_INTEGER);

/** Most specific first, of these the latest; the name decides among equals, so that all processes agree. */
function compare(one: Entry, other: Entry): number {
  if (one.weight !== other.weight) return other.weight - one.weight;
  if (one.from !== other.from) return other.from > one.from ? 1 : -1;
  return (one.price.record ?? '') < (other.price.record ?? '') ? -1 : 1;
}

/** A record for the model's own name comes before an equally specific one for the ids behind it. */
function look(entries: readonly Entry[], { name, upstreamModelId, profiledId }: PricedModel): { candidates: readonly Entry[]; reference: Price | null } {
  const own = name.toLowerCase();
  const others = [upstreamModelId, ...(profiledId === undefined ? [] : [profiledId])].flatMap((one) => [one.toLowerCase(), bareId(one)]);
  const candidates = entries
    .map((entry) => ({ entry, named: matchPieces(entry.pieces, own) }))
    .filter(({ entry, named }) => named || others.some((id) => matchPieces(entry.pieces, id)))
    .sort((one, other) => other.entry.weight - one.entry.weight || Number(other.named) - Number(one.named))
    .map(({ entry }) => entry);
  const prices = findFamily(upstreamModelId, profiledId).prices ?? findFamily(profiledId ?? upstreamModelId, name).prices;
  return { candidates, reference: prices && fromReference(prices) };
}
