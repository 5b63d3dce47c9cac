/** What a reply becomes on its way to the caller, verbatim or translated. */
import type { Edit } from '@model-gateway/json-bytes';
import type { ChatEvent, FramedRecord, StreamRecord } from '@model-gateway/protocols';

/** A record with its bytes as they came. */
export type RawRecord = FramedRecord & StreamRecord;

/** Output is collected per upstream read and sent in one frame: wake-ups cost more than bytes. */
export interface ReplyTransform {
  /** Text or bytes for the caller, whole events only; undefined when nothing. */
  record(record: RawRecord, events: readonly ChatEvent[]): string | Uint8Array | undefined;
  /** Of transforms that forward the record's bytes: the edits of the last one; null when it was changed otherwise. Absent: events are sent. */
  lastEdits?(): readonly Edit[] | null;
  /** Every record has to be read for it, however alike they are. */
  readonly readsAll?: boolean;
  /** Events that only the end of the body brings. */
  finish(events: readonly ChatEvent[]): string;
  /** Of a whole reply what the others look at; undefined: it has to be parsed. Absent: always. */
  look?(bytes: Buffer): unknown;
  /** A whole reply's body; undefined: it is not complete yet, another call of the upstream follows. */
  whole(bytes: Buffer, json: unknown, events: readonly ChatEvent[]): string | Uint8Array | undefined;
  /** What the last whole body says, but for names: it is not parsed again. Absent: only parsing tells. */
  lastWhole?(): unknown;
}
