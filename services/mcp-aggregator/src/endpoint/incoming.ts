/** Reads what a caller posted: which messages, of which era, and whether headers and body agree. */
import { isUtf8 } from 'node:buffer';
import { isObject } from '@model-gateway/contracts';
import { decodeHeaderValue } from '../protocol/header-values.ts';
import { type Message, RpcError, readMessage } from '../protocol/json-rpc.ts';
import { elementsOf, parseJson } from '../protocol/raw-json.ts';
import { batchVersion, type Era, errorCodes, isModern, metaKeys, modernVersions, sessionVersions } from '../protocol/versions.ts';

/** What was posted. */
export interface Incoming {
  era: Era;
  messages: readonly Message[];
  batch: boolean;
}

type Headers = Readonly<Record<string, string>>;

/** What is asked about must be repeated in `Mcp-Name`. */
const namedBy: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

const maxBatch = 100;
const bad = (code: number, message: string, data?: unknown): RpcError => new RpcError(code, message, { status: 400, ...(data !== undefined && { data }) });

/** An error and the message that it answers. */
export class IncomingError extends Error {
  readonly id: string | null;
  readonly error: RpcError;

  constructor(id: string | null, error: RpcError) {
    super(error.message);
    this.id = id;
    this.error = error;
  }
}

/** Throws IncomingError. */
export function readIncoming(body: Buffer, headers: Headers): Incoming {
  if (!isUtf8(body)) throw new IncomingError(null, bad(errorCodes.parse, 'Parse error: the body is not valid UTF-8'));
  const text = body.toString('utf8').trimStart();
  if (text.startsWith('[')) return readBatch(text, headers);
  const message = readMessage(body);
  if (message === null) {
    const parsed = parseJson(text);
    const error =
      parsed === undefined
        ? bad(errorCodes.parse, 'Parse error: the body is not valid JSON')
        : bad(errorCodes.invalidRequest, 'Invalid Request: the body is not a JSON-RPC message');
    throw new IncomingError(null, error);
  }
  return { era: eraOf(message, headers), messages: [message], batch: false };
}

function readBatch(text: string, headers: Headers): Incoming {
  if (parseJson(text) === undefined) throw new IncomingError(null, bad(errorCodes.parse, 'Parse error: the body is not valid JSON'));
  if (headers['mcp-protocol-version'] !== batchVersion && headers['mcp-protocol-version'] !== undefined)
    throw new IncomingError(null, bad(errorCodes.invalidRequest, `Invalid Request: batches belong to the revision ${batchVersion} alone`));
  const messages = (elementsOf(text) ?? []).map((element) => readMessage(Buffer.from(element, 'utf8')));
  if (messages.length === 0 || messages.length > maxBatch || messages.includes(null))
    throw new IncomingError(
      null,
      bad(errorCodes.invalidRequest, 'Invalid Request: the batch is empty, too long, or holds something that is not a JSON-RPC message'),
    );
  const read = messages as Message[];
  if (read.some((message) => eraOf(message, {}) === 'modern' || (message.kind === 'request' && message.method === 'initialize')))
    throw new IncomingError(null, bad(errorCodes.invalidRequest, 'Invalid Request: this message cannot be part of a batch'));
  return { era: 'session', messages: read, batch: true };
}

export const paramsOf = (message: { params: string | undefined }): Record<string, unknown> => {
  const params = message.params === undefined ? undefined : parseJson(message.params);
  return isObject(params) ? params : {};
};

function eraOf(message: Message, headers: Headers): Era {
  if (message.kind === 'result' || message.kind === 'error') return 'session';
  const id = message.kind === 'request' ? message.id : null;
  const fail = (code: number, text: string, data?: unknown): never => {
    throw new IncomingError(id, bad(code, text, data));
  };
  const said = headers['mcp-protocol-version'];
  const meta = paramsOf(message)['_meta'];
  const claimed = isObject(meta) ? meta[metaKeys.version] : undefined;
  if (claimed === undefined) {
    if (said === undefined || sessionVersions.includes(said)) return 'session';
    if (!isModern(said))
      return fail(errorCodes.server, `Bad Request: the revision ${said.slice(0, 40)} is not supported`, { supported: [...sessionVersions, ...modernVersions] });
    // Notifications need not say it again.
    if (message.kind === 'notification') return 'modern';
    if (message.method === 'initialize')
      return fail(errorCodes.headerMismatch, 'Bad Request: initialize belongs to revisions with sessions, and the header names another');
    return fail(errorCodes.invalidParams, `Invalid params: _meta["${metaKeys.version}"] is missing`);
  }
  if (typeof claimed !== 'string') return fail(errorCodes.invalidParams, `Invalid params: _meta["${metaKeys.version}"] must be a string`);
  if (sessionVersions.includes(claimed)) return 'session';
  checkEnvelope(message, meta as Record<string, unknown>, headers, fail);
  return 'modern';
}

type Fail = (code: number, text: string, data?: unknown) => never;

function checkEnvelope(message: Message & { method: string }, meta: Record<string, unknown>, headers: Headers, fail: Fail): void {
  const claimed = meta[metaKeys.version] as string;
  const said = headers['mcp-protocol-version'];
  const isRequest = message.kind === 'request';
  if (said !== undefined && said !== claimed) fail(errorCodes.headerMismatch, 'Bad Request: the headers and the body name different revisions');
  if (!modernVersions.includes(claimed))
    fail(errorCodes.unsupportedVersion, `The revision ${claimed.slice(0, 40)} is not supported`, {
      supported: [...modernVersions, ...sessionVersions],
      requested: claimed.slice(0, 100),
    });
  if (!isObject(meta[metaKeys.capabilities]) && isRequest)
    fail(errorCodes.invalidParams, `Invalid params: _meta["${metaKeys.capabilities}"] must be an object`);
  if (meta[metaKeys.client] !== undefined && !isObject(meta[metaKeys.client]))
    fail(errorCodes.invalidParams, `Invalid params: _meta["${metaKeys.client}"] must be an object`);
  if (!isRequest) return;
  if (said === undefined) fail(errorCodes.headerMismatch, 'Bad Request: the header MCP-Protocol-Version is missing');
  const method = headers['mcp-method'];
  if (method === undefined) fail(errorCodes.headerMismatch, 'Bad Request: the header Mcp-Method is missing');
  if (method !== message.method) fail(errorCodes.headerMismatch, 'Bad Request: the header Mcp-Method and the body name different methods');
  checkName(message, headers, fail);
}

function checkName(message: Message & { method: string }, headers: Headers, fail: Fail): void {
  const field = Object.hasOwn(namedBy, message.method) ? namedBy[message.method] : undefined;
  if (field === undefined || message.kind !== 'request') return;
  const value = paramsOf(message)[field];
  const sent = headers['mcp-name'];
  if (sent === undefined) {
    if (typeof value === 'string') fail(errorCodes.headerMismatch, 'Bad Request: the header Mcp-Name is missing');
    return;
  }
  const decoded = decodeHeaderValue(sent);
  if (decoded === null) fail(errorCodes.headerMismatch, 'Bad Request: the header Mcp-Name cannot be decoded');
  if (typeof value === 'string' && decoded !== value) fail(errorCodes.headerMismatch, 'Bad Request: the header Mcp-Name does not say what the body does');
}
