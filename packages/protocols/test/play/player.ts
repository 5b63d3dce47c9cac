/** What plays an upstream in the laws. Protocols with a client adapter are played by their own writer; for the others a player is written here. */
import type { ChatEvent, Conversation, Message } from '../../src/index.ts';

export interface UpstreamPlayer {
  /** The reply as a stream, one piece per event of the wire. */
  stream(events: readonly ChatEvent[]): (string | Uint8Array)[];
  /** The reply as one JSON body; absent where the wire only streams. */
  whole?(message: Message): unknown;
  /** Reads back what a request says, as far as the wire carries it. */
  readRequest(body: unknown): Conversation;
}
