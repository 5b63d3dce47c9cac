/** Where events of one reply differ while a block grows. */
import type { GrowingPlaces } from '../protocol.ts';

export const growing: GrowingPlaces = {
  words: [
    ['delta', 'text'],
    ['delta', 'thinking'],
    ['delta', 'partial_json'],
  ],
  idle: [],
};
