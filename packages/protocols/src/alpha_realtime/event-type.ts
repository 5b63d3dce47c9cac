/** Which event a frame holds, read without parsing the sound in it. */
import { visitMembers } from '../kit/json-members.ts';

/** The text of the top-level `type`, wherever it stands; null for what is no such object. */
export function readEventType(frame: Buffer): string | null {
  let type: string | null = null;
  visitMembers(frame, 0, (key, start, end) => {
    if (key !== 'type') return false;
    if (frame[start] === quote) type = unescaped(frame.toString('utf8', start, end));
    return true;
  });
  return type;
}

const quote = 34;

function unescaped(text: string): string | null {
  if (!text.includes('\\')) return text.slice(1, -1);
  try {
    return JSON.parse(text) as string;
  } catch {
    return null;
  }
}
