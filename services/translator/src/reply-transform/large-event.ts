/** Events of streams that pass, and may hold megabytes of an image or of sound: of a large one no more is parsed than anybody looks at. */
import { asBuffer, scanBody } from '@model-gateway/json-bytes';
import type { FramedRecord } from '@model-gateway/protocols';

const largeBytes = 64 * 1024;
/** What readers of such streams look at, and what only the gateway may write. */
const keys = ['type', 'usage', 'svg_usage', 'error', '_gateway_warning'] as const;

/** The event's JSON, of a large one those values alone; undefined: it is not JSON. */
export function readEvent({ data, raw, dataStart, dataEnd }: FramedRecord): unknown {
  if (raw.length <= largeBytes || dataStart === undefined || dataEnd === undefined) return parse(data);
  const bytes = asBuffer(raw).subarray(dataStart, dataEnd);
  const scan = scanBody(bytes, { keys });
  if (!scan.ok) return parse(data);
  const found = keys.flatMap((key) => {
    const place = scan.values[key];
    return place ? [[key, parse(bytes.toString('utf8', place.start, place.end))] as const] : [];
  });
  return Object.fromEntries(found);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The pump judges what is not JSON.
    return undefined;
  }
}
