/**
 * How many tokens the files inside a body may be, by its bytes alone: what reserves money or a place in a token limit has not parsed the body. Vendors
 * charge a file by its kind, and the base64 of a picture as text would be a thousand times what it costs.
 */

/** Files found in a body: the bytes that are not text, and the most tokens they are charged as. */
export interface InlineFiles {
  bytes: number;
  tokens: number;
  /** Of sound or film, about: absent where there is none. */
  seconds?: number;
}

type FileKind = 'image' | 'document' | 'audio' | 'video';

/** Shorter strings are counted as text: that is as much as a small picture. */
export const shortestFile = 4096;
/** Most of what vendors charge for a picture of usual size, and for a page of a document. */
const imageTokens = 1600;
const pageTokens = 2000;
const pageBytes = 40_000;
/** Sound that is packed tightly, at the dearest rate of vendors. */
const bytesPerToken = 100;
const tokensPerSecond = 32;
/** Text that is not a file, as dense as reservations take it. */
const textBytesPerToken = 3;
const headBytes = 200;
const samples = 64;

const kindsByType: readonly (readonly [RegExp, FileKind])[] = [
  [/^image\//i, 'image'],
  [/^audio\//i, 'audio'],
  [/^video\//i, 'video'],
  [/^application\/pdf/i, 'document'],
];

/** First bytes of files, in base64; some writers of JSON escape a slash. */
const kindsByContent: readonly (readonly [RegExp, FileKind])[] = [
  [/^(iVBORw0KGgo|\\?\/9j\\?\/|R0lGOD|UklGR.{6,9}XRUJQ)/, 'image'],
  [/^JVBERi0/, 'document'],
  [/^(UklGR.{6,9}XQVZF|SUQz|(\\?\/){2}[M-Ps-v]|T2dnUw|ZkxhQ)/, 'audio'],
  [/^(AAAA.{2,4}Z0eX|GkXfow)/, 'video'],
];

/** `strings`: places of long string values, quotes included. What is not a file of a known kind stays text. */
export function findInlineFiles(body: Buffer, strings: readonly { start: number; end: number }[]): InlineFiles {
  const found: InlineFiles = { bytes: 0, tokens: 0 };
  for (const { start, end } of strings) {
    const file = readFile(body, start + 1, end - 1);
    if (file) count(found, file, end - start);
  }
  return found;
}

/** The same for files whose bytes are not encoded, such as the parts of a form. One of an unknown kind counts as audio. */
export function countFiles(files: readonly { contentType?: string; content: Buffer }[]): InlineFiles {
  const found: InlineFiles = { bytes: 0, tokens: 0 };
  for (const { contentType = '', content } of files) {
    const head = content.toString('base64', 0, headBytes);
    const kind = kindOf(kindsByType, contentType) ?? kindOf(kindsByContent, head) ?? 'audio';
    count(found, measure(kind, head, content.length), content.length);
  }
  return found;
}

/** What one file is charged by. */
type FileSize = Pick<InlineFiles, 'tokens' | 'seconds'>;

function count(found: InlineFiles, { tokens, seconds }: FileSize, bytes: number): void {
  found.bytes += bytes;
  found.tokens += Math.min(tokens, Math.ceil(bytes / textBytesPerToken));
  if (seconds !== undefined) found.seconds = (found.seconds ?? 0) + seconds;
}

/** undefined: it looks like no file. */
function readFile(body: Buffer, start: number, end: number): FileSize | undefined {
  const head = body.toString('latin1', start, Math.min(end, start + headBytes));
  const [prefix = '', type = ''] = /^data:([^,"]{0,150});base64,/i.exec(head) ?? [];
  const content = head.slice(prefix.length);
  const kind = kindOf(kindsByType, type) ?? kindOf(kindsByContent, content);
  if (kind === undefined || !isBase64(body, start + prefix.length, end)) return undefined;
  return measure(kind, content, (end - start - prefix.length) * 0.75);
}

/** `head`: the first bytes of the file, in base64. */
function measure(kind: FileKind, head: string, bytes: number): FileSize {
  if (kind === 'image') return { tokens: imageTokens };
  if (kind === 'document') return { tokens: pageTokens * Math.ceil(bytes / pageBytes) };
  const seconds = secondsOfWave(head, bytes) ?? bytes / bytesPerToken / tokensPerSecond;
  return { tokens: Math.ceil(seconds * tokensPerSecond), seconds: Math.ceil(seconds) };
}

const kindOf = (kinds: typeof kindsByType, text: string): FileKind | undefined => kinds.find(([pattern]) => pattern.test(text))?.[1];

/** A few bytes of the whole length: prose would show a blank or a full stop. */
function isBase64(body: Buffer, start: number, end: number): boolean {
  const step = Math.max(1, (end - start) / samples);
  for (let at = start; at < end; at += step) if (!isBase64Byte(body[Math.floor(at)]!)) return false;
  return true;
}

const base64Bytes = new Set(Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\\'));
const isBase64Byte = (byte: number): boolean => base64Bytes.has(byte);

/** Its head tells its bytes per second; undefined for other sound. */
function secondsOfWave(content: string, bytes: number): number | undefined {
  const head = Buffer.from(content.replaceAll('\\', ''), 'base64');
  if (head.length < 32 || head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WAVE') return undefined;
  const rate = head.readUInt32LE(28);
  return rate > 0 ? bytes / rate : undefined;
}
