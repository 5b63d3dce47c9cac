/** What is kept of bodies that are not text: a form by its fields and the names of its files, other bytes by their type and size. */
import { boundaryOf, type FormPart, findParts, isFormType, MalformedForm } from '@model-gateway/stream-framing';
import { type CompactBody, compactBody } from './compact-body.ts';

/** Those that say what a body is. */
export interface RequestHeaders {
  readonly 'content-type'?: string | undefined;
  readonly 'content-encoding'?: string | string[] | undefined;
}

const textType = /^text\/|(?:^|[/+.-])(?:json|jsonl|ndjson|xml|yaml|javascript|x-www-form-urlencoded)$/i;

/** Whether the bytes are to be read as text. What says nothing about itself is. */
export function isText(headers: RequestHeaders): boolean {
  const { 'content-type': type, 'content-encoding': encoding } = headers;
  if (encoding !== undefined && encoding !== 'identity') return false;
  return type === undefined || textType.test(type.split(';', 1)[0]!.trim());
}

/** Bytes of which nobody reads more than this. */
export const describeBytes = (contentType: string, size: number): Buffer => Buffer.from(JSON.stringify({ content_type: contentType, bytes: size }), 'utf8');

/** What is kept of a request: text as it is, not yet cut; all else as JSON that describes it, which holds on to none of its bytes. */
export function describeRequest({ bytes, headers }: { bytes: Buffer; headers: RequestHeaders }, limit: number): CompactBody {
  const contentType = headers['content-type'] ?? '';
  if (isFormType(contentType)) return describeForm(bytes, contentType, limit);
  if (!isText(headers)) return { bytes: describeBytes(contentType, bytes.length), whole: true };
  return { bytes, whole: true };
}

function describeForm(bytes: Buffer, contentType: string, limit: number): CompactBody {
  try {
    return describeParts(bytes, findParts(bytes, boundaryOf(contentType)), limit);
  } catch (error) {
    if (!(error instanceof MalformedForm)) throw error;
    return { bytes: Buffer.from(JSON.stringify({ content_type: contentType, bytes: bytes.length, error: error.message }), 'utf8'), whole: true };
  }
}

/** A name that comes more than once has a list of values. */
function describeParts(bytes: Buffer, parts: readonly FormPart[], limit: number): CompactBody {
  const values = new Map<string, unknown[]>();
  let left = limit;
  let whole = true;
  for (const part of parts) {
    const field = part.filename === undefined ? compactBody(bytes.subarray(part.start, part.end), left) : null;
    left = Math.max(0, left - (field?.bytes.length ?? 0));
    whole &&= field?.whole ?? true;
    const value = field ? field.bytes.toString('utf8') : describeFile(part);
    values.set(part.name, [...(values.get(part.name) ?? []), value]);
  }
  const described = Object.fromEntries([...values].map(([name, list]) => [name, list.length === 1 ? list[0] : list]));
  const text = Buffer.from(JSON.stringify(described), 'utf8');
  return { bytes: text.length > limit ? Buffer.from(text.subarray(0, limit)) : text, whole: whole && text.length <= limit };
}

const describeFile = ({ filename, contentType, start, end }: FormPart): object => ({
  filename,
  ...(contentType !== undefined && { content_type: contentType }),
  bytes: end - start,
});
