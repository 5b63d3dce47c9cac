/** What a caller sends before an upstream has begun the session: held, so that the upstream may still be exchanged. */
export interface EarlyFrame {
  readonly bytes: Buffer;
  readonly flags: number;
}

const maxBytes = 1024 * 1024;

export class EarlyFrames {
  #frames: EarlyFrame[] = [];
  #size = 0;

  /** false: there is no room for it. */
  hold(bytes: Buffer, flags: number): boolean {
    this.#size += bytes.length;
    if (this.#size > maxBytes) return false;
    this.#frames.push({ bytes, flags });
    return true;
  }

  take(): EarlyFrame[] {
    const frames = this.#frames;
    this.#frames = [];
    return frames;
  }
}
