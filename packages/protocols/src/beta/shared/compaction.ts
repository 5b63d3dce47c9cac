/**
 * A conversation that the vendor has compacted: everything before its `compaction` block is ignored there and replaced by the block's summary. For
 * models of other vendors the summary becomes the first user message.
 */
import { asArray, asString, own } from '../../kit/read.ts';

/** Position and summary of the last `compaction` block of a conversation. */
export interface Compacted {
  /** The message that holds the block, and the block's place in it. */
  turn: number;
  place: number;
  summary: string;
}

/** The last block with a summary; one without is a compaction that failed, and says nothing. */
export function findCompaction(messages: readonly unknown[]): Compacted | null {
  for (let turn = messages.length - 1; turn >= 0; turn--) {
    const blocks = asArray(own(messages[turn], 'content')) ?? [];
    for (let place = blocks.length - 1; place >= 0; place--) {
      const summary = own(blocks[place], 'type') === 'compaction' ? asString(own(blocks[place], 'content')) : undefined;
      if (summary) return { turn, place, summary };
    }
  }
  return null;
}
