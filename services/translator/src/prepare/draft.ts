/** One upstream request in the making: what the steps of `order.ts` hand on to one another. */
import type { Edit } from '@model-gateway/json';
import type { Conversation, ReplyEmulation, ToolBridge, UpstreamDoor, VerbatimRequestContext, VerbatimRules } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import type { Call } from '../call.ts';
import type { Room } from '../room.ts';

export interface Draft {
  readonly call: Call;
  readonly route: Route;
  readonly room: Room;
  readonly upstream: UpstreamDoor;
  /** Rules of the verbatim passage, when both sides speak this protocol: the request is the caller's bytes with `edits`. null: it is `body`. */
  readonly verbatim: VerbatimRules | null;
  readonly context: VerbatimRequestContext;
  /** Translated: what the caller asks, where a step changed it; absent: as it was read. */
  conversation?: Conversation;
  /** Verbatim: what changes in the caller's bytes, all at once at the end. */
  edits: Edit[];
  /** Translated: the JSON value that will be printed. Ours alone, so steps may change it. */
  body: unknown;
  /** What the reply needs, because the request asks for something by other means. */
  emulation: ReplyEmulation | undefined;
  /** The caller's names of tools by the names that are sent, where they differ. */
  toolNames: ReadonlyMap<string, string> | undefined;
  /** Puts names and kinds of tools back in the reply's calls, where the request changed them. */
  bridge: ToolBridge | undefined;
}

/** A step that has nothing to wait for returns nothing: a request that needs no waiting makes no promise. */
export interface Step {
  readonly name: 'fetch-media' | 'translate' | 'normalize' | 'cache-injection';
  run(draft: Draft): undefined | Promise<undefined>;
}
