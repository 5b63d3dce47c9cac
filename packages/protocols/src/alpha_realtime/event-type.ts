/** Which event a frame holds, read without parsing the sound in it. */
import { readKey } from '@model-gateway/json-bytes';
import { visitMembers } from '../kit/json-members.ts';

/** The text of the top-level `type`, wherever it stands; null for what is no such object. */
export function readEventType(frame: Buffer): string | null {
  let type: string | null = null;
  visitMembers(frame, 0, (key, start, end) => {
    if (key !== 'type') return false;
    type = readText(frame, start, end);
    return true;
  });
  return type;
}

/** Whether some reader would take the frame for one of these events: of a key that comes twice, readers differ in which one counts. */
export function mayBeEvent(frame: Buffer, types: ReadonlySet<string>): boolean {
  let found = false;
  visitMembers(frame, 0, (key, start, end) => {
    if (key === 'type') found = types.has(readText(frame, start, end) ?? '');
    return found;
  });
  return found;
}

const quote = 34;

const readText = (frame: Buffer, start: number, end: number): string | null => (frame[start] === quote ? readKey(frame, start, end) : null);
