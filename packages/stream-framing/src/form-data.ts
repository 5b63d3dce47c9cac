/**
 * Where the parts of a `multipart/form-data` body stand (RFC 7578), so that one of them can be read or replaced and all other bytes pass as they are.
 * Nothing is copied: a part is a range of the body.
 */

/** One part. `name` and `filename` are text as the client wrote it (UTF-8); `contentType` is lower case, without parameters. */
export interface FormPart {
  name: string;
  /** Present: the part is a file. */
  filename?: string;
  contentType?: string;
  /** Offsets of its content in the body. */
  start: number;
  end: number;
}

/** Why a body is not a form; the message is for its sender. */
export class MalformedForm extends Error {}

export interface FormLimits {
  maxParts: number;
  /** Of one part's headers together. */
  maxHeaderBytes: number;
}

const usualLimits: FormLimits = { maxParts: 100, maxHeaderBytes: 16 * 1024 };
/** RFC 2046: 1 to 70 characters, the last no blank. */
const boundaryShape = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;

/** Whether a content type names a form. */
export const isFormType = (contentType: string): boolean => /^multipart\/form-data\s*(?:;|$)/i.test(contentType.trimStart());

/** The boundary that a content type names, quoted or not. Throws MalformedForm without a usable one. */
export function boundaryOf(contentType: string): string {
  const boundary = readParameters(contentType).get('boundary');
  if (boundary === undefined) throw new MalformedForm('The content type names no boundary.');
  if (!boundaryShape.test(boundary)) throw new MalformedForm('The boundary in the content type is not allowed.');
  return boundary;
}

/** The parts in their order. Throws MalformedForm for a body that is cut off, has no parts or too many, or a part without a name. */
export function findParts(body: Buffer, boundary: string, { maxParts, maxHeaderBytes }: FormLimits = usualLimits): FormPart[] {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  const parts: FormPart[] = [];
  let after = afterFirstDelimiter(body, delimiter);
  for (;;) {
    const next = afterDelimiterLine(body, after);
    if (next === null) return parts;
    if (parts.length === maxParts) throw new MalformedForm(`The form has more than ${maxParts} parts.`);
    const headEnd = body.indexOf('\r\n\r\n', next - 2);
    if (headEnd === -1) throw cutOff();
    if (headEnd - next > maxHeaderBytes) throw new MalformedForm('The headers of a part are too long.');
    const start = headEnd + 4;
    // The delimiter's own line break may be the one that ends the headers of an empty part.
    const end = body.indexOf(delimiter, start - 2);
    if (end === -1) throw cutOff();
    parts.push({ ...readHead(body.toString('utf8', next, Math.max(next, headEnd))), start, end: Math.max(start, end) });
    after = end + delimiter.length;
  }
}

/** The body in pieces with the content of some parts replaced, and its length: nothing that stays is copied. */
export function replaceParts(body: Buffer, replacements: readonly { part: FormPart; content: string | Uint8Array }[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const { part, content } of [...replacements].sort((a, b) => a.part.start - b.part.start)) {
    pieces.push(body.subarray(at, part.start), typeof content === 'string' ? Buffer.from(content, 'utf8') : content);
    at = part.end;
  }
  pieces.push(body.subarray(at));
  return pieces.filter((piece) => piece.length > 0);
}

const cutOff = (): MalformedForm => new MalformedForm('The form is cut off: its last boundary is missing.');

/** The first delimiter begins the body, or a line after text that nobody reads. */
function afterFirstDelimiter(body: Buffer, delimiter: Buffer): number {
  const line = delimiter.subarray(2);
  if (body.subarray(0, line.length).equals(line)) return line.length;
  const found = body.indexOf(delimiter);
  if (found === -1) throw new MalformedForm('The body does not hold the boundary that the content type names.');
  return found + delimiter.length;
}

/** Where the part after a delimiter begins; null after the last. */
function afterDelimiterLine(body: Buffer, at: number): number | null {
  if (body[at] === 0x2d && body[at + 1] === 0x2d) return null;
  let end = at;
  while (body[end] === 0x20 || body[end] === 0x09) end++;
  if (body[end] !== 0x0d || body[end + 1] !== 0x0a)
    throw end >= body.length ? cutOff() : new MalformedForm('A boundary is followed by something else than a line break.');
  return end + 2;
}

function readHead(head: string): Pick<FormPart, 'name' | 'filename' | 'contentType'> {
  let name: string | undefined;
  let filename: string | undefined;
  let contentType: string | undefined;
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    const field = line.slice(0, Math.max(0, colon)).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (field === 'content-disposition') {
      const parameters = readParameters(value, refuseSecondName);
      // Others would read another name than is read here.
      if (name !== undefined || parameters.has('name*')) throw ambiguousName();
      name = parameters.get('name');
      filename = readExtended(parameters.get('filename*')) ?? parameters.get('filename');
    } else if (field === 'content-type') contentType = value.split(';', 1)[0]!.trim().toLowerCase();
  }
  if (name === undefined) throw new MalformedForm('A part of the form has no name.');
  return { name, ...(filename !== undefined && { filename }), ...(contentType !== undefined && { contentType }) };
}

const ambiguousName = (): MalformedForm => new MalformedForm('A part of the form has more than one name.');

function refuseSecondName(name: string): void {
  if (name === 'name') throw ambiguousName();
}

/** What follows the first semicolon: `; name=value; name="quoted \" value"`. The first of two equal names counts; `repeated` is called for the others. */
function readParameters(value: string, repeated?: (name: string) => void): Map<string, string> {
  const parameters = new Map<string, string>();
  const pattern = /;\s*([^=;\s"]+)\s*=\s*(?:"((?:[^"\\]|\\"(?!\s*(?:;|$))|\\(?!"))*\\?)"|([^;\s]*))/y;
  pattern.lastIndex = Math.max(0, value.indexOf(';'));
  for (let found = pattern.exec(value); found; found = pattern.exec(value)) {
    const name = found[1]!.toLowerCase();
    if (parameters.has(name)) repeated?.(name);
    else parameters.set(name, found[2] === undefined ? found[3]! : unescapeName(found[2]));
    while (value[pattern.lastIndex] === ' ' || value[pattern.lastIndex] === '\t') pattern.lastIndex++;
  }
  return parameters;
}

/** Browsers and Node write a quote as `%22` and a backslash as it is, older clients a quote as `\"`. */
const unescapeName = (text: string): string => text.replaceAll('\\"', '"').replaceAll(/%(?:22|0A|0D)/gi, (code) => decodeURIComponent(code));

/** `UTF-8''%C3%BCbung.m4a` of RFC 5987; undefined for another charset or an escape that is none. */
function readExtended(value: string | undefined): string | undefined {
  const found = value === undefined ? null : /^utf-8'[^']*'(.*)$/i.exec(value);
  if (!found) return undefined;
  try {
    return decodeURIComponent(found[1]!);
  } catch {
    return undefined;
  }
}
