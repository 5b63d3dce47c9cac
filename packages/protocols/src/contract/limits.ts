/** How long the replies to a request may become, which budgets and token limits ask beforehand. */

/** How long the replies to one request may become, and how much they may hold, by its own words; undefined: it does not say. */
export interface ReplyLimits {
  /** Tokens of each reply. */
  output?: number | undefined;
  /** Tokens of thinking; 0: none is wanted. */
  thinking?: number | undefined;
  /** How many replies are asked for at once; at least 1. */
  replies: number;
  /** How many images are asked for. */
  images?: number | undefined;
  /** How many seconds of sound or film are asked for. */
  seconds?: number | undefined;
  /** Tiers that the reply may say it was served in, beside the standard one; prices go by them. */
  serviceTiers?: readonly string[] | undefined;
}

/** Absent: requests of this protocol never say. Example: `readReplyLimits: (value) => ({ output: asCount(value('max_tokens')), replies: 1 })`. */
export interface ClientLimits {
  /**
   * Asked before money or tokens are reserved for a request. `value` gives a top-level value of the body, of a form the text of a part; what it is is
   * untrusted, and what makes no sense counts as not said. Absent: requests of this protocol never say.
   */
  readReplyLimits?(value: (key: string) => unknown): ReplyLimits;
}
