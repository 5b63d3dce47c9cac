/** The number that each event of a stream has. */
import { asNumber, own } from '../../kit/read.ts';

/** `event`: its text on the wire. undefined: the server that wrote it does not number its events. */
export function eventNumber(event: string): number | undefined {
  const data = event
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5))
    .join('\n');
  try {
    return asNumber(own(JSON.parse(data), 'sequence_number'));
  } catch {
    return undefined;
  }
}
