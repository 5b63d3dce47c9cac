/** Request and reply types of an admission queue. */

/** The right to make one call. */
export interface Lease {
  readonly limited: false;
  /** The call is over. Once more than needed does nothing. `used`: tokens it took, asked for only when they count. */
  release(used: () => number): void;
  /** The call was never made: it counts as none. After `release` it does nothing. */
  giveBack(): void;
  /** For what is not a call itself: its place stays taken, and what it took of the rates is given back. `release` and `giveBack` do nothing afterwards. */
  keepPlace(): Place;
}

/** One of the concurrent calls of a limit, in which others begin and end without being asked for: they are counted, and may leave a debt. */
export interface Place {
  /** One more is under way: counts a request, and as many tokens as are expected of it. To be called with those that it took, once they are known. */
  begin(): (tokens: number) => void;
  /** Once more than needed does nothing. */
  release(): void;
}

/** The refusal of an admission queue. */
export interface Limited {
  readonly limited: true;
  /** Until one more may pass, as far as is known; 0: unknown. */
  readonly retryAfterMs: number;
}

export type Admission = Lease | Limited;

/** What an attempt asks of an admission queue. */
export interface GateAsk {
  /** Name of the access key: keys take turns. */
  accessKey: string;
  /** Estimated tokens of the request. Asked for only where tokens are limited. */
  requestTokens(): number;
  /** Most tokens of its replies, by its own words; undefined: it does not say. Asked for only where tokens are limited. */
  replyTokens(): number | undefined;
  /** false: a limited node is passed over at once. */
  mayWait: boolean;
  /** Registers what to do when the caller leaves; called at most once, and only when there is something to wait for. */
  onLeave(callback: () => void): void;
}
