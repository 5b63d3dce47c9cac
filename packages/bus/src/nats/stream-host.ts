/** What streams need of their bus. */
import type { MessageReader } from '../kit/message-reader.ts';
import type { StreamEnvironment } from '../stream/link.ts';
import type { GatherBudget } from './gathering.ts';
import type { Peers } from './peers.ts';
import type { RoundTrips } from './round-trips.ts';
import type { Servers } from './servers.ts';

export interface StreamHost extends StreamEnvironment {
  readonly reader: MessageReader;
  readonly peers: Peers;
  readonly servers: Servers;
  readonly trips: RoundTrips;
  /** Coarse, awake milliseconds. */
  readonly now: number;
  /** Our inbox, as a frame carries it. */
  readonly inboxBytes: Uint8Array;
  /** Payload bytes a frame may have, given the server's limit. */
  readonly cap: number;
  readonly gatherBudget: GatherBudget;
  /** Largest request body that is taken. */
  readonly maxBodyBytes: number;
  publish(subject: string, frame: Uint8Array): boolean;
}

/** Callbacks for the end of a stream. */
export interface StreamBooks {
  /** The end's user has nothing more to expect. */
  ended(): void;
  /** No frame is of interest any more. */
  forget(stream: { readonly key: number }): void;
}
