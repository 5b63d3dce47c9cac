/** What the edge's scan of a body has to note for a protocol, so that nobody reads the body twice. */

/** Keys and words that the scan notes. Example: `editedKeys: ['stream_options']` lets verbatim rules replace that value without a second look at the body. */
export interface ClientScan {
  /** Top-level keys, besides `model`, that verbatim rules may replace or add: the edge's scan notes their positions. */
  editedKeys?: readonly string[];
  /** Bodies pass with the other models that they name; without it the scan notes where those lists are, and they are taken out. */
  keepsOtherModels?: true;
  /** Quoted texts that verbatim rules pass to `contains`: the edge's scan notes which of them the body holds. */
  bodyWords?: readonly string[];
  /** Top-level key by which a client names its conversation to the vendor's cache. */
  cacheKey?: string;
  /** Top-level keys that `readReplyLimits` asks for: the edge's scan notes where they stand, too. */
  limitKeys?: readonly string[];
}
