/** Calls to vendors' token endpoints: by the guarded dialer, small, never redirected. What they answer is judged here, and none of it is quoted. */
import { isObject } from '@model-gateway/contracts';
import { isTokenAddress } from '@model-gateway/protocols/login';
import { Pieces } from '@model-gateway/stream-framing';
import type { Egress, Outbound, OutboundFault } from '@model-gateway/upstream-client';

/** A call that gave no token. The message is for admins, and holds nothing that the vendor wrote but its error's code. */
export class TokenFault extends Error {
  /** Asking again cannot help: somebody has to log in, or to change something. */
  readonly terminal: boolean;
  /** The vendor's code, or ours. */
  readonly code: string;

  constructor(code: string, message: string, terminal: boolean) {
    super(message);
    this.name = 'TokenFault';
    this.code = code;
    this.terminal = terminal;
  }
}

export interface TokenCall {
  method: string;
  url: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: Readonly<Record<string, unknown>>;
  /** Sent form-encoded. Undefined fields are left out. */
  form?: Readonly<Record<string, string | undefined>>;
  /** A client certificate, where that identifies the caller. */
  egress?: Egress | undefined;
}

export interface TokenAnswer {
  status: number;
  /** Empty where the answer is not a JSON object. */
  body: Readonly<Record<string, unknown>>;
}

export type TokenHttp = (call: TokenCall) => Promise<TokenAnswer>;

const maxBytes = 256 * 1024;
/** Well within the lock that a refresher holds. */
export const tokenCallMs = 15_000;

/** An answer as it came. */
export interface RawAnswer {
  status: number;
  /** Names are lower case. */
  headers: Record<string, string>;
  bytes: Buffer;
}

/** One call of a token endpoint. Throws TokenFault where the address is none for tokens, or nobody answers. */
export type SendToken = (call: Pick<TokenCall, 'method' | 'url' | 'headers' | 'egress'> & { body?: Buffer | undefined }) => Promise<RawAnswer>;

/** By the guarded dialer, and never redirected. */
export function createSendToken(outbound: Outbound): SendToken {
  return ({ method, url, headers = {}, body, egress }) => {
    if (!isTokenAddress(url)) return Promise.reject(new TokenFault('insecure_address', 'Tokens are asked for over https, or on this machine.', true));
    const timeouts = { connect_ms: 5_000, first_byte_ms: tokenCallMs, idle_ms: tokenCallMs, total_ms: tokenCallMs };
    return send(outbound, { method, url, headers: { accept: 'application/json', ...headers }, body, timeouts, egress });
  };
}

export const createTokenHttp = (outbound: Outbound): TokenHttp => overSend(createSendToken(outbound));

const overSend =
  (sendToken: SendToken): TokenHttp =>
  async ({ method, url, headers = {}, json, form, egress }) => {
    const [type, body] = json ? ['application/json', JSON.stringify(json)] : form ? ['application/x-www-form-urlencoded', encodeForm(form)] : [];
    const answer = await sendToken({
      method,
      url,
      headers: { ...(type !== undefined && { 'content-type': type }), ...headers },
      body: body === undefined ? undefined : Buffer.from(body, 'utf8'),
      egress,
    });
    return { status: answer.status, body: readObject(answer.bytes.toString('utf8')) };
  };

const encodeForm = (form: Readonly<Record<string, string | undefined>>): string =>
  new URLSearchParams(Object.entries(form).flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, value]]))).toString();

function send(outbound: Outbound, request: Parameters<Outbound['send']>[0]): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const pieces = new Pieces();
    let size = 0;
    let status = 0;
    let headers: Record<string, string> = {};
    const call = outbound.send(request, {
      head: (code, received) => {
        status = code;
        headers = received;
      },
      data: (chunk) => {
        size += chunk.length;
        if (size <= maxBytes) pieces.add(chunk);
        else call.abort('answer too large');
      },
      end: () => resolve({ status, headers, bytes: pieces.take() }),
      error: (fault) => reject(unreachable(new URL(request.url).host, fault)),
    });
  });
}

function unreachable(host: string, fault: OutboundFault): TokenFault {
  const why = fault.detail ?? (fault.class === 'timeout' ? 'no answer in time' : fault.phase);
  return new TokenFault('unreachable', `The token endpoint at ${host} cannot be reached (${why}).`, false);
}

function readObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** The vendor's word for what is wrong: `error` of OAuth, or the name of an AWS exception. */
export function errorCodeOf({ body }: TokenAnswer): string | null {
  const { error, __type: type, code } = body;
  const named = typeof error === 'string' ? error : typeof type === 'string' ? type.replace(/^.*#/, '') : typeof code === 'string' ? code : null;
  return named !== null && /^[\w.-]{1,64}$/.test(named) ? named : null;
}

/** Words of vendors that say: later. All others say: not with this. */
const passing: ReadonlySet<string> = new Set(['temporarily_unavailable', 'server_error', 'slow_down', 'SlowDownException', 'InternalServerException']);

/** Throws what an answer that is not a success means. */
export function requireSuccess(answer: TokenAnswer): Readonly<Record<string, unknown>> {
  const { status, body } = answer;
  const code = errorCodeOf(answer);
  if (status >= 200 && status <= 299 && typeof body['error'] !== 'string') return body;
  const terminal = code !== null ? !passing.has(code) && status < 500 && status !== 429 : [400, 401, 403].includes(status);
  throw new TokenFault(code ?? `status_${status}`, `The vendor refused (${code ?? status}).`, terminal);
}
