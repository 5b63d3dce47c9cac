/** Where events of one reply differ while an item grows. */
import type { GrowingPlaces } from '../protocol.ts';

export const growing: GrowingPlaces = {
  words: [['delta']],
  // The second is padding, so that lengths tell a listener nothing.
  idle: [['sequence_number'], ['obfuscation']],
};
