/** Maps with a maximum size, for names that come from outside. */
import { LRUCache } from 'lru-cache';

/** A map that evicts its least recently used entry beyond `max`. Its tables grow with its content: `max` alone would reserve all of them at once. */
export const boundedMap = <V extends NonNullable<unknown>>(max: number): LRUCache<string, V> => new LRUCache({ maxSize: max, sizeCalculation: () => 1 });
