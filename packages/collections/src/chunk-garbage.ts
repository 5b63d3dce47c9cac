/**
 * Chunks of large bodies lie outside of V8's heap, which they hardly touch: a body of 25 MB in chunks of 64 KB is 400 small objects. The collector, which
 * begins when the heap fills, would leave hundreds of megabytes of them behind. So code that copies large bodies counts the bytes, and the young
 * generation, which holds the chunks, is collected after so many. Only where `globalThis.gc` is there
 * (`deploy/cli/src/v8-settings.ts`); without it memory is higher.
 */

const collectEveryBytes = 16 * 1024 * 1024;

type Collect = (options: { type: 'minor'; execution: 'sync' }) => void;

/** Counts bytes that were copied, and collects now and then. */
export class ChunkGarbage {
  #bytes = 0;
  #pending = false;
  readonly #collector: () => Collect | undefined;

  /** `collector` is asked each time: what runs the process may provide it late. */
  constructor(collector: () => Collect | undefined) {
    this.#collector = collector;
  }

  /** So many bytes in chunks were copied elsewhere: the chunks are garbage once this turn of the event loop is over. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < collectEveryBytes || this.#pending) return;
    const collect = this.#collector();
    if (!collect) return;
    this.#pending = true;
    setImmediate(() => {
      this.#pending = false;
      this.#bytes = 0;
      collect({ type: 'minor', execution: 'sync' });
    });
  }
}

/** Of this process. */
export const chunkGarbage = new ChunkGarbage(() => (globalThis as { gc?: Collect }).gc);
