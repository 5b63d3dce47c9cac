/** A reply over several calls of an upstream, as those see it who make the calls. */
import type { ChatEvent } from '@model-gateway/protocols';
import type { RawRecord, ReplyTransform } from '../reply-transform/reply-transform.ts';

/** What one search costs, in micro-units. */
export interface SearchPrice {
  micros: number;
  currency: string;
}

/** Where what is printed between two calls goes. */
export interface HostedOutput {
  commit(): void;
  send(bytes: Uint8Array): boolean;
  whole(body: string | Uint8Array): void;
}

/** A reply over several calls of an upstream. */
export interface HostedReply extends ReplyTransform {
  record(record: RawRecord, events: readonly ChatEvent[]): string;
  /** Shows what came of hosted tools; where that ends the reply, the reply is complete. */
  deliver(events: readonly ChatEvent[], output: HostedOutput, isStream: boolean): void;
}
