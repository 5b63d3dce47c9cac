/**
 * Large bodies leave a process a few at a time: the opener lets go of each when it is out, so that many of them are never held on both sides at once. All at
 * once, each would be on its way until the last one is.
 */
export class BodyGate<Call> {
  private readonly max: number;
  private readonly sending = new Set<Call>();
  /** In the order in which they came. */
  private readonly waiting = new Map<Call, () => void>();

  constructor(max: number) {
    this.max = max;
  }

  /** `begin` runs now, or when another has left. */
  enter(call: Call, begin: () => void): void {
    if (this.sending.size >= this.max) return void this.waiting.set(call, begin);
    this.sending.add(call);
    begin();
  }

  isWaiting(call: Call): boolean {
    return this.waiting.has(call);
  }

  /** Its body is out, or nobody wants it any more. May be said twice. */
  leave(call: Call): void {
    if (this.waiting.delete(call) || !this.sending.delete(call)) return;
    for (const [next, begin] of this.waiting) {
      this.waiting.delete(next);
      return this.enter(next, begin);
    }
  }
}
