/** What turning an upstream's reply into the caller's uses. */
import type { VendorMedia } from '../media/vendor-media.ts';
import type { PromptSizes } from '../prompt-sizes.ts';
import type { BeginTaskDeps } from '../tasks/deps.ts';

/** What turning an upstream's reply into the caller's uses. */
export interface ReplyDeps {
  mintId(prefix: string): string;
  /** How large prompts are, before their upstreams have counted them. */
  readonly promptSizes: PromptSizes;
  /** Fetches what upstreams give by address. */
  readonly media: VendorMedia;
  /** Asks about tasks whose end has the answer. */
  readonly tasks: BeginTaskDeps;
  /** Cap of one upstream stream event, in bytes. */
  readonly maxEventBytes: number;
  /** Cap of a whole upstream reply, in bytes. */
  readonly maxReplyBytes: number;
}
