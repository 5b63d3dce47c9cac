/** A REST service whose operations are offered as tools: a call becomes one HTTP request, its answer a tool's result. */
import { isObject, type RestBridge, type RestOperation, restBridgeSchema } from '@model-gateway/contracts';
import type { Outbound } from '@model-gateway/upstream-client';
import { parseJson } from '../protocol/raw-json.ts';
import { errorCodes, modernVersion } from '../protocol/versions.ts';
import { type HttpReply, ServerFault, sendHttp, TooLargeFault } from './http.ts';
import type { Peer, PeerInfo, PeerReply, PeerRequest, Target } from './peer.ts';

/** Answers larger than that are an error of the tool. */
const maxAnswerBytes = 4 * 1024 * 1024;
/** Of an answer that is an error. */
const maxErrorText = 8 * 1024;

export interface RestOptions {
  outbound: Outbound;
  target: () => Target;
  /** `extra_config` of the server, checked when it was saved. */
  config: unknown;
}

export class RestPeer implements Peer {
  readonly era = 'modern';
  readonly hasState = false;
  readonly info: PeerInfo = { version: modernVersion, capabilities: { tools: {} }, instructions: undefined };
  readonly #options: RestOptions;
  readonly #bridge: RestBridge;

  constructor(options: RestOptions) {
    this.#options = options;
    const { success, data } = restBridgeSchema.safeParse(options.config);
    if (!success) throw new ServerFault('The list of operations cannot be read.');
    this.#bridge = data;
  }

  async request({ method, params, signal, silenceMs }: PeerRequest): Promise<PeerReply> {
    if (method === 'tools/list') return { kind: 'result', result: JSON.stringify({ tools: this.#bridge.operations.map(toTool) }) };
    if (method !== 'tools/call') return refuse(errorCodes.methodNotFound, 'Method not found');
    const asked = params === undefined ? undefined : parseJson(params);
    const name = isObject(asked) ? asked['name'] : undefined;
    const operation = this.#bridge.operations.find(({ operation_id }) => operation_id === name);
    if (!operation) return refuse(errorCodes.invalidParams, `Unknown tool: ${String(name)}`);
    const args = isObject(asked) && isObject(asked['arguments']) ? asked['arguments'] : {};
    const request = buildRequest(operation, args, this.#options.target());
    if (typeof request === 'string') return toolError(request);
    const ask = { ...request, answerMs: silenceMs, idleMs: silenceMs, totalMs: silenceMs, maxBytes: maxAnswerBytes, signal };
    try {
      return toResult(await sendHttp(this.#options.outbound, ask));
    } catch (error) {
      if (signal.aborted || !(error instanceof ServerFault) || error.unsent) throw error;
      const result = toolError(error.message);
      return error instanceof TooLargeFault ? result : { ...result, fault: error.message };
    }
  }

  async notify(): Promise<void> {}
  async answer(): Promise<void> {}
  async close(): Promise<void> {}
}

const refuse = (code: number, message: string): PeerReply => ({ kind: 'error', error: JSON.stringify({ code, message }), code, status: 200 });
const toolError = (text: string): PeerReply & { kind: 'result' } => ({
  kind: 'result',
  result: JSON.stringify({ content: [{ type: 'text', text }], isError: true }),
});

const toTool = ({ operation_id, description, parameters_schema }: RestOperation) => ({
  name: operation_id,
  description,
  // A schema that does not say so describes an object all the same: arguments are one.
  inputSchema: { ...parameters_schema, type: 'object' },
});

type Place = 'path' | 'query' | 'header' | 'body';
interface RestRequest {
  method: RestOperation['method'];
  url: string;
  headers: Record<string, string>;
  body?: string;
}

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** Headers that arguments may not set: the connection's, and those that carry credentials. */
const reserved =
  /^(?:authorization|cookie|host|connection|content-length|content-type|transfer-encoding|upgrade|te|expect|proxy-.*|x-forwarded-.*|forwarded)$/i;

/** Or why it cannot be made. Path first, then query for methods without a body, else a JSON body; `in` of a property says it otherwise. */
export function buildRequest(operation: RestOperation, args: Readonly<Record<string, unknown>>, { url: base, headers }: Target): RestRequest | string {
  const properties = isObject(operation.parameters_schema['properties']) ? operation.parameters_schema['properties'] : {};
  const hasBody = operation.method === 'POST' || operation.method === 'PUT' || operation.method === 'PATCH';
  const query = new URLSearchParams();
  const body: Record<string, unknown> = {};
  const own: Record<string, string> = {};
  let path = operation.path;
  const missing = [...path.matchAll(/\{([^{}]+)\}/g)]
    .map(([, name]) => name!)
    .filter((name) => !Object.hasOwn(args, name) || args[name] === null || args[name] === '');
  if (missing.length > 0) return `The argument ${missing[0]} is missing.`;
  for (const [name, value] of Object.entries(args)) {
    const place = placeOf(name, { path: operation.path, hint: properties[name], hasBody });
    if (value === undefined || (value === null && place !== 'body')) continue;
    if (place === 'path') {
      const segment = encodeSegment(value);
      if (segment === null) return `The argument ${name} cannot be part of a path.`;
      path = path.replaceAll(`{${name}}`, () => segment);
    } else if (place === 'query') {
      for (const one of Array.isArray(value) ? value : [value]) query.append(name, plain(one));
    } else if (place === 'header') {
      const text = plain(value);
      if (!headerName.test(name) || reserved.test(name) || !/^[\x20-\x7e]*$/.test(text)) return `The argument ${name} cannot be a header.`;
      own[name.toLowerCase()] = text;
    } else body[name] = value;
  }
  if (path !== operation.path && hasDotSegment(path)) return 'The arguments lead to another path: no part of them between slashes may be . or ..';
  const [address, baseQuery] = base.split('?', 2) as [string, string?];
  const search = [baseQuery, query.toString()].filter((part) => part !== undefined && part !== '').join('&');
  return {
    method: operation.method,
    url: `${address.replace(/\/+$/, '')}${path}${search === '' ? '' : `?${search}`}`,
    headers: { accept: 'application/json, text/*;q=0.9, */*;q=0.1', ...own, ...headers, ...(hasBody && { 'content-type': 'application/json' }) },
    ...(hasBody && { body: JSON.stringify(body) }),
  };
}

function placeOf(name: string, { path, hint, hasBody }: { path: string; hint: unknown; hasBody: boolean }): Place {
  if (path.includes(`{${name}}`)) return 'path';
  const said = isObject(hint) ? hint['in'] : undefined;
  if (said === 'query' || said === 'header' || (said === 'body' && hasBody)) return said;
  return hasBody ? 'body' : 'query';
}

const plain = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** One segment, whatever it holds; null: `.` and `..` mean other places even when they are encoded. */
function encodeSegment(value: unknown): string | null {
  const text = plain(value);
  if (text === '.' || text === '..' || text === '') return null;
  try {
    return encodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Many servers decode a slash before they resolve dots, some also cut off what follows a semicolon: a segment that hides one of those leads elsewhere. */
const hasDotSegment = (path: string): boolean => path.split(/\/|%2f|%5c/i).some((segment) => /^\.{1,2}(?:;|%3b|$)/i.test(segment.replace(/%2e/gi, '.')));

function toResult({ status, headers, body }: HttpReply): PeerReply {
  const text = body.toString('utf8');
  if (status < 200 || status > 299) {
    const error = toolError(`The service answered ${status}${text === '' ? '.' : `: ${text.slice(0, maxErrorText)}`}`);
    return status < 500 ? error : { ...error, fault: `The service answered ${status}.` };
  }
  const json = /json/i.test(headers['content-type'] ?? '') ? parseJson(text) : undefined;
  const content = [{ type: 'text', text }];
  if (!isObject(json)) return { kind: 'result', result: JSON.stringify({ content }) };
  // As the service wrote it.
  return { kind: 'result', result: `{"content":${JSON.stringify(content)},"structuredContent":${text}}` };
}
