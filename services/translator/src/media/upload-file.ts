/** Puts a caller's file into the storage of an upstream's vendor, with the account that the attempt calls, for models that read by address alone. */
import { randomUUID } from 'node:crypto';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { FormFile, UnaryUpload, UpstreamFault } from '@model-gateway/protocols';
import { Pieces } from '@model-gateway/stream-framing';
import type { Logger } from '@model-gateway/telemetry';
import type { Outbound, OutboundRequest } from '@model-gateway/upstream-client';
import { outboundFault } from '../attempt/classify.ts';
import { awaitCredential, credentialHeaders } from '../attempt/credential.ts';
import type { SecretDeps } from '../attempt/deps.ts';
import { fixedHeaders } from '../attempt/upstream-headers.ts';
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

interface Asked extends Exchanged {
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
      const answer = await exchange(deps.upstreams, request, signal);
      if (answer.status === 200) return { ...answer, fault: null };
      return { ...answer, fault: adapter.readError(answer.status, answer.headers, secrets.redactor.redact(answer.body.toString('utf8'))) };
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

/** What a call was answered. */
interface Exchanged {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

function exchange(outbound: Outbound, request: OutboundRequest, signal: AbortSignal): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new GatewayError('client_gone'));
    const pieces = new Pieces();
    let [size, status, headers]: [number, number, Record<string, string>] = [0, 0, {}];
    const call = outbound.send(request, {
      head(given, replyHeaders) {
        [status, headers] = [given, replyHeaders];
      },
      data(chunk) {
        size += chunk.length;
        if (size <= maxReplyBytes) pieces.add(chunk);
      },
      end() {
        signal.removeEventListener('abort', stop);
        resolve({ status, headers, body: pieces.take() });
      },
      error(fault) {
        signal.removeEventListener('abort', stop);
        reject(signal.aborted ? new GatewayError('client_gone') : new UploadFailure(outboundFault(fault, status !== 0), status === 0 ? null : status));
      },
    });
    const stop = (): void => call.abort('caller left');
    signal.addEventListener('abort', stop);
  });
}
