/** A caller's form (multipart/form-data): read as fields and files, or passed on with another model's name in it. */
import { GatewayError } from '@model-gateway/contracts/errors';
import type { FormBody, FormFile } from '@model-gateway/protocols';
import { boundaryOf, type FormPart, findParts, MalformedForm, replaceParts } from '@model-gateway/stream-framing';

/** Files are views of the body, not copies. Throws GatewayError invalid_request for what is not a form. */
export function readFormBody(bytes: Buffer, contentType: string): FormBody {
  const parts = partsOf(bytes, contentType);
  return {
    fields: parts.flatMap(({ name, filename, start, end }) => (filename === undefined ? [{ name, value: bytes.toString('utf8', start, end) }] : [])),
    files: parts.flatMap((part) => fileOf(bytes, part)),
  };
}

/** The form in pieces, with this name in its part `model`, which it may lack where the path has named the model; all other bytes are the caller's. */
export function renameModel({ bytes, contentType }: { bytes: Buffer; contentType: string }, upstreamModelId: string): Uint8Array[] {
  const models = partsOf(bytes, contentType).filter(({ name, filename }) => name === 'model' && filename === undefined);
  if (models.length === 0) {
    const delimiter = `--${boundaryOf(contentType)}`;
    const part = `${delimiter}\r\nContent-Disposition: form-data; name="model"\r\n\r\n${upstreamModelId}\r\n`;
    return [Buffer.from(part), bytes.subarray(bytes.indexOf(delimiter))];
  }
  return replaceParts(
    bytes,
    models.map((part) => ({ part, content: upstreamModelId })),
  );
}

function fileOf(bytes: Buffer, { name, filename, contentType, start, end }: FormPart): FormFile[] {
  if (filename === undefined) return [];
  return [{ name, filename, ...(contentType !== undefined && { contentType }), content: bytes.subarray(start, end) }];
}

/** The edge has judged the form already; a script's or another version's may differ. */
function partsOf(bytes: Buffer, contentType: string): FormPart[] {
  try {
    return findParts(bytes, boundaryOf(contentType));
  } catch (cause) {
    if (cause instanceof MalformedForm) throw new GatewayError('invalid_request', { message: cause.message, cause });
    throw cause;
  }
}
