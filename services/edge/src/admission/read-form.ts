/** What a form asks for (multipart/form-data), by the places of its parts: its files are not read. */
import type { Job } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { countFiles } from '@model-gateway/model-catalog';
import type { RouteMatch } from '@model-gateway/protocols';
import { boundaryOf, type FormPart, findParts, MalformedForm } from '@model-gateway/stream-framing';

/** What decides the route of a form. */
export interface ReadForm {
  /** Text of its part `model`; undefined: it has none. */
  model: string | undefined;
  /** Text of a part that is not a file. */
  field(name: string): string | undefined;
  files: NonNullable<Job['places']['files']>;
}

/** Names of models are no longer; a longer part is not decoded. */
const maxFieldBytes = 1024;

/** Throws GatewayError invalid_request for what is not a form, for two parts `model` or `stream`, and without a file where one is needed. */
export function readForm(bytes: Buffer, contentType: string, { files: fileNames }: Pick<RouteMatch, 'files'>): ReadForm {
  const parts = partsOf(bytes, contentType);
  const files = parts.filter(({ filename }) => filename !== undefined);
  refuseSecond(parts, 'model', 'The form names more than one model.');
  refuseSecond(parts, 'stream', 'The form has more than one part named stream.');
  if (fileNames && !files.some(({ name }) => fileNames.includes(name.replace(/\[\d*\]$/, ''))))
    throw new GatewayError('invalid_request', { message: `The form has no file named ${fileNames.join(' or ')}.`, param: fileNames[0]! });
  const field = (name: string): string | undefined => {
    const part = parts.find((one) => one.name === name && one.filename === undefined);
    return part && part.end - part.start <= maxFieldBytes ? bytes.toString('utf8', part.start, part.end) : undefined;
  };
  return {
    model: field('model'),
    field,
    files: countFiles(
      files.map((part) => ({ ...(part.contentType !== undefined && { contentType: part.contentType }), content: bytes.subarray(part.start, part.end) })),
    ),
  };
}

/** Readers differ in which of two parts they take, and some take a file for a text: what was authorised must be all that there is. */
function refuseSecond(parts: readonly FormPart[], name: string, message: string): void {
  if (parts.filter((part) => part.name.toLowerCase() === name).length > 1) throw new GatewayError('invalid_request', { message, param: name });
}

function partsOf(bytes: Buffer, contentType: string): FormPart[] {
  try {
    return findParts(bytes, boundaryOf(contentType));
  } catch (cause) {
    if (cause instanceof MalformedForm) throw new GatewayError('invalid_request', { message: cause.message, cause });
    throw cause;
  }
}
