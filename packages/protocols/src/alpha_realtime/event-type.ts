/** Which event a frame holds, read without parsing the sound in it. */
import { visitMembers } from '../kit/json-members.ts';

/** The text of the top-level `type`, wherever it stands; null for what is no such object. */
export function readEventType(frame: Buffer): string | null {
  let type: string | null = null;
  visitMembers(frame, 0, (key, start, end) => {
    if (!isType(key)) return false;
    type = readText(frame, start, end);
    return true;
  });
  return type;
}

/** Whether some reader would take the frame for one of these events: of a key that comes twice, readers differ in which one counts. */
export function mayBeEvent(frame: Buffer, types: ReadonlySet<string>): boolean {
  let found = false;
  visitMembers(frame, 0, (key, start, end) => {
    if (isType(key)) found = types.has(readText(frame, start, end) ?? '');
    return found;
  });
  return found;
}

const quote = 34;

/** A key may be spelled with escapes. */
const isType = (key: string): boolean => key === 'type' || (key.includes('\\') && unescaped(`"${key}"`) === 'type');

const readText = (frame: Buffer, start: number, end: number): string | null => (frame[start] === quote ? unescaped(frame.toString('utf8', start, end)) : null);

function unescaped(text: string): string | null {
  if (!text.includes('\\')) return text.slice(1, -1);
  try {
    return JSON.parse(text) as string;
  } catch {
    return null;
  }
}
