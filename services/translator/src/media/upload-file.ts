/** Puts a caller's file into the storage of an upstream's vendor, with the account that the attempt calls, for models that read by address alone. */
import { randomUUID } from 'node:crypto';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { FormFile, UnaryUpload, UpstreamFault } from '@model-gateway/protocols';
import type { Logger } from '@model-gateway/telemetry';
import type { Outbound, OutboundRequest } from '@model-gateway/upstream-client';
import { outboundFault } from '../attempt/classify.ts';
import { awaitCredential, credentialHeaders } from '../attempt/credential.ts';
import type { SecretDeps } from '../attempt/deps.ts';
import { fixedHeaders } from '../attempt/upstream-headers.ts';
import { askWhole, type WholeAnswer } from '../attempt/whole-answer.ts';
import { mayRenew, withRenewedToken } from '../attempt/with-renewed-token.ts';
import type { NetworkDeps } from '../prepare/deps.ts';
import type { UploadContext } from './uploads.ts';
import { dialerFor, type VendorDialers } from './vendor-media.ts';

/** Policies are small, and what storage says of an upload is not read. */
const maxReplyBytes = 256 * 1024;
const askMs = 15_000;
const uploadMs = 120_000;

/** The upstream, or its vendor's storage, did not take the file: another account may be asked. */
export class UploadFailure extends Error {
  readonly fault: UpstreamFault;
  readonly status: number | null;

  constructor(fault: UpstreamFault, status: number | null) {
    super(fault.message);
    this.fault = fault;
    this.status = status;
  }
}

/** What uploading uses. */
export interface UploadDeps extends VendorDialers {
  readonly secrets: SecretDeps;
  readonly logger: Logger;
  readonly egressOf: NetworkDeps['egressOf'];
}

/** Resolves with the file's address. Rejects with UploadFailure, or with the caller's error for a file that is too large. */
export async function uploadFile(file: FormFile, upload: UnaryUpload<unknown>, context: UploadContext, deps: UploadDeps): Promise<string> {
  const { route, signal } = context;
  const egress = deps.egressOf(route.upstream);
  const asking = upload.request(route.target);
  const answer = await askForPlace(asking, context, deps);
  if (answer.fault) throw new UploadFailure(answer.fault, answer.status);
  const place = readPlace(upload, answer.body, `${randomUUID()}${endingOf(file)}`);
  if (place.maxBytes !== undefined && file.content.length > place.maxBytes)
    throw new GatewayError('invalid_request', { message: `The file is larger than the ${place.maxBytes} bytes that this upstream takes.`, param: file.name });
  const outbound = dialerFor(place.url, asking.url, deps);
  if (!outbound) throw new UploadFailure(unusable, null);
  const { type, pieces } = writeForm(place.fields, file);
  const stored = await exchange(
    outbound,
    { method: 'POST', url: place.url, headers: { 'content-type': type, accept: '*/*' }, body: pieces, egress, timeouts: { total_ms: uploadMs } },
    signal,
  );
  if (stored.status < 200 || stored.status > 299)
    throw new UploadFailure({ class: 'server', code: 'upload_refused', message: `The upstream's storage answered ${stored.status}.` }, stored.status);
  return place.address;
}

interface Asked extends Pick<WholeAnswer, 'status' | 'body'> {
  readonly fault: UpstreamFault | null;
}

function askForPlace(asking: ReturnType<UnaryUpload<unknown>['request']>, { route, adapter, signal }: UploadContext, deps: UploadDeps): Promise<Asked> {
  const { secrets } = deps;
  return withRenewedToken<Asked>({
    route,
    deps,
    subject: { model: route.model.name },
    isRefused: (asked) => mayRenew(route, asked),
    async send() {
      await awaitCredential(route, secrets);
      const headers = { ...asking.headers, ...credentialHeaders(route, adapter, asking.headers, secrets), ...fixedHeaders(route.upstream, secrets) };
      const request = { ...asking, headers, egress: deps.egressOf(route.upstream), timeouts: { ...route.timeouts, total_ms: askMs } };
      const { status, headers: replyHeaders, body } = await exchange(deps.upstreams, request, signal);
      const fault = status === 200 ? null : adapter.readError(status, replyHeaders, secrets.redactor.redact(body.toString('utf8')));
      return { status, body, fault };
    },
  });
}

const unusable: UpstreamFault = { class: 'broken', code: 'upload_policy', message: 'the upstream names no place where a file can be uploaded to' };

function readPlace(upload: UnaryUpload<unknown>, body: Buffer, name: string): ReturnType<UnaryUpload<unknown>['readPlace']> {
  try {
    return upload.readPlace(JSON.parse(body.toString('utf8')), name);
  } catch {
    throw new UploadFailure(unusable, 200);
  }
}

/** Models tell formats by it. */
const endingOf = ({ filename }: FormFile): string => /\.[a-z0-9]{1,8}$/i.exec(filename)?.[0].toLowerCase() ?? '';

/** The file itself is not copied. */
function writeForm(fields: readonly (readonly [string, string])[], file: FormFile): { type: string; pieces: Uint8Array[] } {
  const boundary = `form-${randomUUID()}`;
  const parts = fields.map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
  const opening = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="file${endingOf(file)}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const pieces = [Buffer.from(parts.join('') + opening, 'utf8'), file.content, Buffer.from(`\r\n--${boundary}--\r\n`, 'utf8')];
  return { type: `multipart/form-data; boundary=${boundary}`, pieces };
}

/** Rejects with `client_gone`, and with UploadFailure where no answer came to its end. */
async function exchange(outbound: Outbound, request: OutboundRequest, signal: AbortSignal): Promise<WholeAnswer> {
  if (signal.aborted) throw new GatewayError('client_gone');
  const answer = await askWhole(outbound, request, { maxBytes: maxReplyBytes, signal });
  const { status, fault } = answer;
  if (!fault) return answer;
  throw signal.aborted ? new GatewayError('client_gone') : new UploadFailure(outboundFault(fault, status !== 0), status === 0 ? null : status);
}
