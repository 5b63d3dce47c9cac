/** Where events of one reply differ while a block grows. */
import type { DeltaFields } from '../../contract/index.ts';

export const deltaFields: DeltaFields = {
  words: [
    ['delta', 'text'],
    ['delta', 'thinking'],
    ['delta', 'partial_json'],
  ],
  idle: [],
};
