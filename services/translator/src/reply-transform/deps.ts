/** What turning an upstream's reply into the caller's uses. */
import type { VendorMedia } from '../media/vendor-media.ts';
import type { PromptSizes } from '../prompt-sizes.ts';

/** What turning an upstream's reply into the caller's uses. */
export interface ReplyDeps {
  mintId(prefix: string): string;
  /** How large prompts are, before their upstreams have counted them. */
  readonly promptSizes: PromptSizes;
  /** Fetches what upstreams give by address. */
  readonly media: VendorMedia;
  /** Cap of one upstream stream event, in bytes. */
  readonly maxEventBytes: number;
  /** Cap of a whole upstream reply, in bytes. */
  readonly maxReplyBytes: number;
}
