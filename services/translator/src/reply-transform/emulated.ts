/**
 * A reader whose events give what the request asked for by other means, and whose calls are judged by the caller's own schemas; the upstream's own
 * reader where nothing was emulated or widened.
 */
import { ArgumentsCheck, type ChatEvent, OutputUnwrapper, type ReplyReader, type StreamRecord } from '@model-gateway/protocols';
import type { Call } from '../call.ts';
import type { Prepared } from '../prepare.ts';

type Emulated = Pick<Prepared, 'emulation' | 'relaxedToolSchemas'>;

export function unwrapReader(reader: ReplyReader, prepared: Emulated, call: Call): ReplyReader {
  if (!prepared.emulation && !prepared.relaxedToolSchemas) return reader;
  const postProcess = createPostProcessor(prepared);
  return {
    read: (record: StreamRecord) => postProcess.read(reader.read(record)),
    finish() {
      const events = postProcess.read(reader.finish());
      postProcess.recordPostProcessing(call);
      return events;
    },
  };
}

/** The same for the events of a whole reply. */
export function unwrapEvents(events: ChatEvent[], prepared: Emulated, call: Call): ChatEvent[] {
  if (!prepared.emulation && !prepared.relaxedToolSchemas) return events;
  const postProcess = createPostProcessor(prepared);
  const postProcessed = postProcess.read(events);
  postProcess.recordPostProcessing(call);
  return postProcessed;
}

function createPostProcessor({ emulation, relaxedToolSchemas }: Emulated): { read(events: ChatEvent[]): ChatEvent[]; recordPostProcessing(call: Call): void } {
  const unwrapper = emulation && new OutputUnwrapper(emulation);
  const check = relaxedToolSchemas && new ArgumentsCheck(relaxedToolSchemas);
  return {
    read(events) {
      check?.see(events);
      return unwrapper?.read(events) ?? events;
    },
    recordPostProcessing(call) {
      if (unwrapper) call.lose(unwrapper.losses);
      if (check) call.lose(check.losses);
    },
  };
}
