/** Each vendor's form of an error. */
import type { ProtocolId } from '@model-gateway/contracts';
import type { Refusal, Vendor, VendorRequest } from './rule.ts';
import { headerOf } from './vendor.ts';

export interface Rendered {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const invalid = 'invalid_request_error';

function mistral({ status, message, type, code, param }: Refusal): object {
  // Faults of the schema are a list, with the place as a path.
  if (status === 422) {
    const detail = [
      {
        type: type ?? 'extra_forbidden',
        loc: ['body', ...(param ?? '').split('.').map((key) => (/^\d+$/.test(key) ? Number(key) : key))],
        msg: message,
        input: null,
      },
    ];
    return { object: 'error', message: { detail }, type: invalid, param: null, code: null };
  }
  return { object: 'error', message, type: type ?? invalid, param: null, code: code ?? null };
}

const chat = ({ message, type, code, param }: Refusal): object => ({ error: { message, type: type ?? invalid, param: param ?? null, code: code ?? null } });

const google = ({ status, message, type }: Refusal): object => ({ error: { code: status, message, status: type ?? 'INVALID_ARGUMENT' } });

const bodies: Record<Vendor, (refusal: Refusal) => object> = {
  openai: chat,
  deepseek: (refusal) => chat({ ...refusal, code: refusal.code ?? invalid }),
  mistral,
  qwen: (refusal) => ({ ...chat({ ...refusal, code: refusal.code ?? 'invalid_parameter_error' }), request_id: 'fake-request' }),
  xai: ({ message, code }) => ({ code: code ?? 'Client specified an invalid argument', error: message }),
  moonshot: ({ message, type }) => ({ error: { message, type: type ?? invalid } }),
  zai: ({ message, code }) => ({ error: { code: code ?? '1210', message } }),
  minimax: ({ message, type }) => ({ type: 'error', error: { type: type ?? 'bad_request_error', message, http_code: '400' }, request_id: 'fake-request' }),
  anthropic: ({ message, type }) => ({ type: 'error', error: { type: type ?? invalid, message }, request_id: 'req_fake' }),
  google,
  bedrock: ({ message }) => ({ message }),
  dashscope: ({ message, code }) => ({ code: code ?? 'InvalidParameter', message, request_id: 'fake-request' }),
  kiro: ({ message, code }) => ({ __type: 'com.amazon.kiro.runtimeservice#ValidationException', message, reason: code ?? null }),
  other: chat,
};

/** Status, headers and body of the refusal. */
export function renderRefusal(protocol: ProtocolId, vendor: Vendor, refusal: Refusal, { path, headers }: Pick<VendorRequest, 'path' | 'headers'>): Rendered {
  const body = JSON.stringify(bodies[vendor](refusal));
  const json = { 'content-type': 'application/json' };
  if (vendor === 'bedrock')
    return {
      status: refusal.status,
      headers: { ...json, 'x-amzn-errortype': `${refusal.type ?? 'ValidationException'}:http://internal.amazon.com/coral/com.amazon.bedrock/` },
      body,
    };
  // Streams of this vendor begin with 200 and say in the first event that they failed.
  if (protocol === 'delta' && headerOf(headers, 'x-dashscope-sse') === 'enable')
    return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: `id:1\nevent:error\n:HTTP_STATUS/${refusal.status}\ndata:${body}\n\n` };
  // A stream that is no event stream is one list.
  if (protocol === 'gamma' && path.includes(':streamGenerateContent') && !path.includes('alt=sse'))
    return { status: refusal.status, headers: json, body: `[${body}]` };
  return { status: refusal.status, headers: json, body };
}
