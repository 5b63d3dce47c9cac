/** The host's envelope around the vendors' stream events: `chunk` messages that hold the event's JSON in base64, beside random padding. */

import type { FramedRecord } from '../../contract/index.ts';
import { asString, own } from '../../kit/read.ts';

/** What an `event:` line may contain; all event names of the messages protocol match. */
const eventName = /^\w{1,64}$/;

/** The event inside, framed as server-sent events would have it, so that it can pass to a caller who speaks them. Anything else stays. */
export function unwrapRecord(record: FramedRecord): FramedRecord {
  if (record.failure !== undefined) return record;
  const bytes = asString(own(parse(record.data), 'bytes'));
  if (bytes === undefined) return record;
  const data = Buffer.from(bytes, 'base64').toString('utf8');
  const json = parse(data);
  const type = asString(own(json, 'type'));
  const named = type !== undefined && eventName.test(type);
  const head = named ? `event: ${type}\ndata: ` : 'data: ';
  const inner: FramedRecord = { ...(named && { event: type }), data, json, raw: Buffer.from(`${head}${data}\n\n`, 'utf8') };
  // Data of several lines is framed anew by who prints it.
  return data.includes('\n') ? { ...inner, raw: Buffer.from(`${head}${data.replaceAll('\n', '\ndata: ')}\n\n`, 'utf8') } : withPlace(inner, head.length);
}

/** Where the data stands: after its head, before the blank line. */
const withPlace = (record: FramedRecord, dataStart: number): FramedRecord => ({ ...record, dataStart, dataEnd: record.raw.length - 2 });

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Not JSON: reported where the record is read.
    return undefined;
  }
}
