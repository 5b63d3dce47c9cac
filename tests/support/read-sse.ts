/** The events of a whole SSE text. */
import { createSseParser } from '@model-gateway/stream-framing';

export interface ReadEvent {
  event: string | undefined;
  data: string;
  // biome-ignore lint/suspicious/noExplicitAny: assertions look into it freely.
  json: any;
}

export function readSse(text: string): ReadEvent[] {
  const parser = createSseParser({ maxEventBytes: 16 * 1024 * 1024 });
  const records = [...parser.push(Buffer.from(text)), ...parser.finish()];
  return records.map(({ event, data }) => ({ event, data, json: data.startsWith('{') ? JSON.parse(data) : undefined }));
}
