/** What a caller sends before an upstream has begun the session: held, so that the upstream may still be exchanged. */
export interface EarlyFrame {
  readonly bytes: Buffer;
  readonly flags: number;
}

const maxBytes = 1024 * 1024;

export class EarlyFrames {
  #frames: EarlyFrame[] = [];
  #size = 0;
  #awaited: ((frame: EarlyFrame) => void) | undefined;

  /** false: there is no room for it. */
  hold(bytes: Buffer, flags: number): boolean {
    this.#size += bytes.length;
    if (this.#size > maxBytes) return false;
    const frame = { bytes, flags };
    if (this.#awaited) this.#awaited(frame);
    else this.#frames.push(frame);
    this.#awaited = undefined;
    return true;
  }

  /** Takes the first one out, or calls back once it comes. */
  takeFirst(taken: (frame: EarlyFrame) => void): void {
    const frame = this.#frames.shift();
    if (frame) taken(frame);
    else this.#awaited = taken;
  }

  take(): EarlyFrame[] {
    const frames = this.#frames;
    this.#frames = [];
    return frames;
  }
}
