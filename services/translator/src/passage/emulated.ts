/** A reader whose events give what the request asked for by other means; the upstream's own reader where nothing was emulated. */
import { type ChatEvent, OutputUnwrapper, type ReplyReader, type StreamRecord } from '@model-gateway/protocols';
import type { Call } from '../call.ts';
import type { Prepared } from '../prepare.ts';

type Emulated = Pick<Prepared, 'emulation'>;

export function unwrapReader(reader: ReplyReader, { emulation }: Emulated, call: Call): ReplyReader {
  if (!emulation) return reader;
  const unwrapper = new OutputUnwrapper(emulation);
  const unwrap = (events: readonly ChatEvent[]): ChatEvent[] => unwrapper.read(events);
  return {
    read: (record: StreamRecord) => unwrap(reader.read(record)),
    finish() {
      const events = unwrap(reader.finish());
      call.lose(unwrapper.losses);
      return events;
    },
  };
}

/** The same for the events of a whole reply. */
export function unwrapEvents(events: ChatEvent[], { emulation }: Emulated, call: Call): ChatEvent[] {
  if (!emulation) return events;
  const unwrapper = new OutputUnwrapper(emulation);
  const unwrapped = unwrapper.read(events);
  call.lose(unwrapper.losses);
  return unwrapped;
}
