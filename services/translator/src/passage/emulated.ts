/**
 * A reader whose events give what the request asked for by other means, and whose calls are judged by the caller's own schemas; the upstream's own
 * reader where nothing was emulated or widened.
 */
import { ArgumentsCheck, type ChatEvent, OutputUnwrapper, type ReplyReader, type StreamRecord } from '@model-gateway/protocols';
import type { Call } from '../call.ts';
import type { Prepared } from '../prepare.ts';

type Emulated = Pick<Prepared, 'emulation' | 'widenedTools'>;

export function unwrapReader(reader: ReplyReader, prepared: Emulated, call: Call): ReplyReader {
  if (!prepared.emulation && !prepared.widenedTools) return reader;
  const mend = createMender(prepared);
  return {
    read: (record: StreamRecord) => mend.read(reader.read(record)),
    finish() {
      const events = mend.read(reader.finish());
      mend.tell(call);
      return events;
    },
  };
}

/** The same for the events of a whole reply. */
export function unwrapEvents(events: ChatEvent[], prepared: Emulated, call: Call): ChatEvent[] {
  if (!prepared.emulation && !prepared.widenedTools) return events;
  const mend = createMender(prepared);
  const mended = mend.read(events);
  mend.tell(call);
  return mended;
}

function createMender({ emulation, widenedTools }: Emulated): { read(events: ChatEvent[]): ChatEvent[]; tell(call: Call): void } {
  const unwrapper = emulation && new OutputUnwrapper(emulation);
  const check = widenedTools && new ArgumentsCheck(widenedTools);
  return {
    read(events) {
      check?.see(events);
      return unwrapper?.read(events) ?? events;
    },
    tell(call) {
      if (unwrapper) call.lose(unwrapper.losses);
      if (check) call.lose(check.losses);
    },
  };
}
