/** Where events of one reply differ while an item grows. */
import type { DeltaFields } from '../../contract/index.ts';

export const deltaFields: DeltaFields = {
  words: [['delta']],
  // The second is padding, so that lengths tell a listener nothing.
  idle: [['sequence_number'], ['obfuscation']],
};
