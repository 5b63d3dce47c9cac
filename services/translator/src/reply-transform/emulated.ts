/**
 * A reader whose events give what the request asked for by other means, and whose calls are judged by the caller's own schemas; the upstream's own
 * reader where nothing was emulated or widened.
 */
import { ArgumentsCheck, type ChatEvent, OutputUnwrapper, type ReplyReader, type StreamRecord } from '@model-gateway/protocols';
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import type { RequestRecord } from '../request/record.ts';

type Emulated = Pick<UpstreamRequest, 'emulation' | 'relaxedToolSchemas'>;

export function unwrapReader(reader: ReplyReader, upstreamRequest: Emulated, record: RequestRecord): ReplyReader {
  if (!upstreamRequest.emulation && !upstreamRequest.relaxedToolSchemas) return reader;
  const postProcess = createPostProcessor(upstreamRequest);
  return {
    read: (framed: StreamRecord) => postProcess.read(reader.read(framed)),
    finish() {
      const events = postProcess.read(reader.finish());
      postProcess.recordPostProcessing(record);
      return events;
    },
  };
}

/** The same for the events of a whole reply. */
export function unwrapEvents(events: ChatEvent[], upstreamRequest: Emulated, record: RequestRecord): ChatEvent[] {
  if (!upstreamRequest.emulation && !upstreamRequest.relaxedToolSchemas) return events;
  const postProcess = createPostProcessor(upstreamRequest);
  const postProcessed = postProcess.read(events);
  postProcess.recordPostProcessing(record);
  return postProcessed;
}

function createPostProcessor({ emulation, relaxedToolSchemas }: Emulated): {
  read(events: ChatEvent[]): ChatEvent[];
  recordPostProcessing(record: RequestRecord): void;
} {
  const unwrapper = emulation && new OutputUnwrapper(emulation);
  const check = relaxedToolSchemas && new ArgumentsCheck(relaxedToolSchemas);
  return {
    read(events) {
      check?.see(events);
      return unwrapper?.read(events) ?? events;
    },
    recordPostProcessing(record) {
      if (unwrapper) record.lose(unwrapper.losses);
      if (check) record.lose(check.losses);
    },
  };
}
