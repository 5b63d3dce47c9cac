/** What a file is, from its first bytes: what a server says of it is only its word. */

type Test = (bytes: Buffer) => boolean;

const begins =
  (...codes: number[]): Test =>
  (bytes) =>
    codes.every((code, at) => bytes[at] === code);
const ascii =
  (text: string, at = 0): Test =>
  (bytes) =>
    bytes.toString('latin1', at, at + text.length) === text;
const both =
  (one: Test, other: Test): Test =>
  (bytes) =>
    one(bytes) && other(bytes);

const signatures: readonly (readonly [Test, string])[] = [
  [begins(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a), 'image/png'],
  [begins(0xff, 0xd8, 0xff), 'image/jpeg'],
  [ascii('GIF8'), 'image/gif'],
  [both(ascii('RIFF'), ascii('WEBP', 8)), 'image/webp'],
  [ascii('%PDF-'), 'application/pdf'],
  [both(ascii('RIFF'), ascii('WAVE', 8)), 'audio/wav'],
  [ascii('ID3'), 'audio/mp3'],
  [ascii('OggS'), 'audio/ogg'],
  [ascii('fLaC'), 'audio/flac'],
  [ascii('ftyp', 4), 'video/mp4'],
  [begins(0x1a, 0x45, 0xdf, 0xa3), 'video/webm'],
];

const textTypes = /^(?:text\/(?:plain|markdown|csv|html|xml)|application\/(?:json|xml))\b/;

/** The media type; null for what is none that models read. `said` is what the server called it: it decides only between kinds of text. */
export function sniffType(bytes: Buffer, said: string): string | null {
  const found = signatures.find(([test]) => test(bytes));
  if (found) return found[1];
  const text = textTypes.exec(said.trim().toLowerCase())?.[0];
  return text !== undefined && isText(bytes) ? text : null;
}

function isText(bytes: Buffer): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    // Not UTF-8: as good as binary to a model.
    return false;
  }
}
