/** Where chunks of one reply differ while text grows. Arguments of calls are none of it: the reader follows their JSON. */
import type { DeltaFields } from '../../contract/index.ts';

export const deltaFields: DeltaFields = {
  words: [
    ['choices', 0, 'delta', 'content'],
    ['choices', 0, 'delta', 'reasoning_content'],
    ['choices', 0, 'delta', 'reasoning'],
    ['choices', 0, 'text'],
  ],
  // Padding of one vendor, so that lengths tell a listener nothing.
  idle: [['obfuscation']],
};
