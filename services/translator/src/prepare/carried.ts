import type { ReplyEmulation, ToolBridge } from '@model-gateway/protocols';

/** The part of a prepared request that a reroute by a post-translation script keeps: it goes to another route of the same protocol. */
export interface Carried {
  body: Buffer;
  /** How the reply gives what the request asked for by other means. */
  emulation: ReplyEmulation | undefined;
  /** The caller's schemas of tools that were sent with wider ones. */
  relaxedToolSchemas: ReadonlyMap<string, unknown> | undefined;
  /** Puts names and kinds of tools back in the reply's calls; undefined when the request changed none. */
  bridge: ToolBridge | undefined;
}
