/**
 * Turns blocks that may overlap (parallel tool calls arrive interleaved from some upstreams) into blocks that stand strictly one after the other,
 * numbered 0, 1, 2 …: one is open at a time, the deltas of the others wait until it closes. For client protocols whose streams know no overlap.
 */
import type { BlockStart, ChatEvent } from '../chat/event.ts';

export type BlockEvent = Extract<ChatEvent, { index: number }>;
export type BlockDelta = Exclude<BlockEvent, { type: 'block-start' | 'block-end' }>;

interface PendingBlock {
  start: BlockStart;
  deltas: BlockDelta[];
  ended: boolean;
}

/** Blocks that say nothing until their first delta: they are announced with it, and never when it does not come (empty text is refused by clients). */
const speaksLate = (start: BlockStart): boolean => start.type === 'text' || start.type === 'thinking' || start.type === 'refusal';

const isEmptyDelta = (delta: BlockDelta): boolean => 'text' in delta && delta.text === '';

export class SequentialBlocks {
  /** Everything that has not been written whole, by its canonical number. */
  readonly #blocks = new Map<number, PendingBlock>();
  /** Those among them that have something to say and wait for the open one to close, in the order in which they had. */
  readonly #waiting = new Set<number>();
  /** Canonical number of the block that is open on the wire. */
  #open: number | null = null;
  #announced = 0;

  /** Events to write now: renumbered, sequential, each block's start before its first delta, and that delta never lost. */
  push(event: BlockEvent): BlockEvent[] {
    const { index } = event;
    if (event.type === 'block-start') {
      if (this.#blocks.has(index)) return [];
      this.#blocks.set(index, { start: event.block, deltas: [], ended: false });
      return speaksLate(event.block) ? [] : this.#wait(index);
    }
    const block = this.#blocks.get(index);
    if (!block || block.ended) return [];
    return event.type === 'block-end' ? this.#end(index, block) : this.#delta(event, block);
  }

  /** What kind of block a canonical number stands for; undefined when it was never started, or has been written whole. */
  kindOf(index: number): BlockStart['type'] | undefined {
    return this.#blocks.get(index)?.start.type;
  }

  /** Ends whatever a reader left open, in turn. */
  finish(): BlockEvent[] {
    for (const [index, block] of this.#blocks) {
      block.ended = true;
      if (index !== this.#open && !this.#waiting.has(index)) this.#blocks.delete(index);
    }
    return this.#advance();
  }

  #delta(delta: BlockDelta, block: PendingBlock): BlockEvent[] {
    if (speaksLate(block.start) && isEmptyDelta(delta)) return [];
    if (this.#open === delta.index) return [this.#renumber(delta)];
    hold(block.deltas, delta);
    return this.#wait(delta.index);
  }

  #end(index: number, block: PendingBlock): BlockEvent[] {
    block.ended = true;
    // It never said anything.
    if (this.#open !== index && !this.#waiting.has(index)) this.#blocks.delete(index);
    return this.#advance();
  }

  #wait(index: number): BlockEvent[] {
    this.#waiting.add(index);
    return this.#advance();
  }

  /** Closes the open block if it has ended, and opens the next that waits, until one stays open. */
  #advance(): BlockEvent[] {
    const events: BlockEvent[] = [];
    for (;;) {
      const index = this.#open ?? this.#waiting.values().next().value;
      const block = index === undefined ? undefined : this.#blocks.get(index);
      if (index === undefined || !block) return events;
      if (this.#open === null) {
        this.#open = index;
        this.#waiting.delete(index);
        events.push({ type: 'block-start', index: this.#announced++, block: block.start });
        for (const delta of block.deltas) events.push(this.#renumber(delta));
        block.deltas = [];
      }
      if (!block.ended) return events;
      events.push({ type: 'block-end', index: this.#announced - 1 });
      this.#blocks.delete(index);
      this.#open = null;
    }
  }

  #renumber(delta: BlockDelta): BlockDelta {
    return { ...delta, index: this.#announced - 1 };
  }
}

/** Text of a waiting block is kept as one piece, so that waiting costs what the text itself does. */
function hold(deltas: BlockDelta[], delta: BlockDelta): void {
  const last = deltas.at(-1);
  if (last && 'text' in last && 'text' in delta && last.type === delta.type) deltas[deltas.length - 1] = { ...last, text: last.text + delta.text };
  else deltas.push(delta);
}
