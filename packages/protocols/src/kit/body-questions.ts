/** What the edge's one scan of a caller's body looks for, so that nobody after it has to: top-level values, and words anywhere. */
import { createHash } from 'node:crypto';
import type { ClientAdapter } from '../contract/index.ts';
import { otherModelKeys } from './other-models.ts';

/** Keys and texts that the edge looks for when it scans a request body. */
export interface BodyQuestions {
  /** Names both lists: an edge of another version may have asked something else. */
  id: string;
  /** Top-level keys whose values are placed. */
  keys: readonly string[];
  /** Words that may stand as a whole string, key or value, at any depth. */
  words: readonly string[];
}

const decisive = ['model', 'stream'] as const;
const known = new WeakMap<ClientAdapter, BodyQuestions>();

/** Returns the same object for the same adapter. */
export function questionsOf(client: ClientAdapter): BodyQuestions {
  let questions = known.get(client);
  if (!questions) {
    const { editedKeys = [], limitKeys = [], hostedTools, cacheKey, turns, bodyWords: words = [] } = client;
    const offerKeys = hostedTools?.offerKeys ?? [];
    const edited = client.keepsOtherModels ? editedKeys : [...editedKeys, ...otherModelKeys];
    const keys = [...new Set([...decisive, ...edited, ...limitKeys, ...offerKeys, ...(cacheKey === undefined ? [] : [cacheKey]), ...(turns?.keys ?? [])])];
    const id = createHash('sha256')
      .update(JSON.stringify([keys, words]))
      .digest('hex')
      .slice(0, 8);
    questions = { id, keys, words };
    known.set(client, questions);
  }
  return questions;
}
