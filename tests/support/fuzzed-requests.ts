/** Requests to the client endpoints, damaged at places chosen by a seed: in their values, their keys, their bytes and their headers. */
import { gzipSync } from 'node:zlib';
import { createRandom, mutate, pick, type Random } from '../../packages/protocols/test/fuzz/mutate.ts';
import { requestSeeds } from '../../packages/protocols/test/fuzz/requests.ts';

export type ClientProtocol = 'alpha' | 'alpha_response' | 'beta' | 'gamma';

export interface FuzzedRequest {
  protocol: ClientProtocol;
  method: string;
  path: string;
  headers: Record<string, string | string[]>;
  body: Buffer;
  /** What was done to it, for a failure's message. */
  damage: string[];
}

interface Endpoint {
  protocol: ClientProtocol;
  path: (model: string) => string;
  /** Given where the body says whether the reply is a stream. */
  stream?: boolean;
}

const endpoints: readonly Endpoint[] = [
  ...[true, false].flatMap((stream): Endpoint[] => [
    { protocol: 'alpha', path: () => '/v1/chat/completions', stream },
    { protocol: 'alpha_response', path: () => '/v1/responses', stream },
    { protocol: 'beta', path: () => '/v1/messages', stream },
  ]),
  { protocol: 'gamma', path: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse` },
  { protocol: 'gamma', path: (model) => `/v1beta/models/${model}:streamGenerateContent` },
  { protocol: 'gamma', path: (model) => `/v1beta/models/${model}:generateContent` },
  { protocol: 'gamma', path: (model) => `/v1beta/models/${model}:countTokens` },
  { protocol: 'beta', path: () => '/v1/messages/count_tokens' },
  { protocol: 'alpha_response', path: () => '/v1/responses/input_tokens' },
];

const times = (text: string, count: number): string => text.repeat(count);

/** JSON, or nearly, that no writer of JSON would print from a value. */
const oddTexts: readonly ((random: Random) => string)[] = [
  () => 'NaN',
  () => '-Infinity',
  () => '"NaN"',
  () => '1e999',
  () => '-1e999',
  () => '-0',
  () => '0.1e-400',
  () => '99999999999999999999',
  () => times('9', 4000),
  () => '9007199254740993',
  () => '"9007199254740993"',
  (random) => times('[', pick([50, 400, 5000], random)),
  (random) => {
    const depth = pick([50, 400, 5000], random);
    return times('[', depth) + times(']', depth);
  },
  (random) => {
    const depth = pick([50, 400, 5000], random);
    return `${times('{"a":', depth)}1${times('}', depth)}`;
  },
  (random) => `"${times('x', pick([300, 70_000, 300_000], random))}"`,
  () => `[${times('{},', 2000)}{}]`,
  () => '"\\ud800"',
  () => '"\\udc00\\ud800"',
  () => '{"\\ud800":"\\udfff"}',
  () => '"\\u0000\\u001f\\u007f\\u2028"',
  () => '"a\u0001b"',
  () => '"\\x"',
  () => '{"__proto__":{"polluted":true}}',
  () => '{"constructor":{"prototype":{"polluted":true}},"hasOwnProperty":1,"toString":null,"then":{}}',
  () => '{"length":-1,"0":"x"}',
  () => '{"toJSON":"x"}',
  () => '{"":""}',
  () => '{"a":1,"a":2}',
  () => '"data:image/png;base64,%%%"',
  () => '"data:,"',
  () => '"file:///etc/passwd"',
  () => '"http://[::1"',
  () => '"{\\"a\\":"',
  () => '""',
  () => '" "',
  () => '[null,[],{},"",0]',
];

const oddKeys = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'then',
  '',
  '\u0000',
  '$ref',
  '0',
  '-1',
  'x'.repeat(5000),
  'ключ',
  'type',
  'role',
  'stream',
  'model',
];

const contentTypes = [
  'text/plain',
  'application/json; charset=utf-16',
  'application/json; charset="',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  '',
  'application/JSON;;',
  'x',
  'application/vnd.api+json',
];

const oddHeaders: readonly [name: string, value: string | string[]][] = [
  ['anthropic-version', '0'],
  ['anthropic-version', ['2023-06-01', '2023-06-01']],
  ['anthropic-beta', 'x,,y , context-1m-2025-08-07,\u00e9'],
  ['anthropic-beta', 'b,'.repeat(2000)],
  ['openai-beta', '__proto__'],
  ['openai-organization', '\u00ff\u00fe'],
  ['accept', 'text/html;q=NaN'],
  ['accept', 'text/event-stream'],
  ['accept-encoding', 'br;q=2, *;q=0'],
  ['z-request-id', ''],
  ['z-request-id', '../../x'],
  ['z-request-id', 'x'.repeat(4000)],
  ['x-request-id', ['a', 'b']],
  ['traceparent', '00-00000000000000000000000000000000-0000000000000000-ff'],
  ['traceparent', 'x'],
  ['tracestate', ','.repeat(500)],
  ['x-forwarded-for', '999.1.1.1, ::::, unknown'],
  ['user-agent', 'x'.repeat(8000)],
  ['cookie', 'a=b; a=c; =; ;;'],
  ['x-stainless-retry-count', '-1'],
  ['x-stainless-timeout', 'NaN'],
  ['range', 'bytes=0-1'],
  ['if-none-match', '*'],
  ['session_id', '__proto__'],
  ['x-many', Array.from({ length: 60 }, (_, at) => `${at}`)],
];

/** The same request for the same seed. `models` are names to ask for; `keys` is the access key. */
export function fuzzedRequest(seed: number, models: readonly string[], key: string): FuzzedRequest {
  const random = createRandom(seed);
  const { protocol, path, stream } = pick(endpoints, random);
  const damage: string[] = [];
  const seeds = requestSeeds(protocol);
  const model = random() < 0.03 ? pick(['%00', '%ff', '..%2f..', '__proto__', 'no-such', 'a:b', `${models[0]}%20`], random) : pick(models, random);
  // Most requests are asked for the parts that all upstreams can do: else nearly all are refused before they are translated.
  let value: unknown = random() < 0.3 ? seeds[0] : pick(seeds, random);
  value = { ...(value as object), ...(protocol !== 'gamma' && { model, ...(stream !== undefined && { stream }) }) };

  if (random() < 0.5) {
    value = mutate(value, random, random() < 0.6 ? 1 : 4);
    damage.push('values');
  }
  let text = JSON.stringify(value) ?? '';
  if (random() < 0.35) {
    text = withOddTexts(value, random);
    damage.push('texts');
  }
  if (random() < 0.15) {
    text = withOddKeys(text, random);
    damage.push('keys');
  }
  let body: Buffer = Buffer.from(text, 'utf8');
  const headers: Record<string, string | string[]> = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  if (random() < 0.08) {
    body = withBrokenBytes(body, random);
    damage.push('bytes');
  }
  if (random() < 0.08) {
    for (let left = Math.floor(random() * 3); left >= 0; left--) {
      const [name, odd] = pick(oddHeaders, random);
      headers[name] = odd;
    }
    damage.push('headers');
  }
  if (random() < 0.03) {
    headers['content-type'] = pick(contentTypes, random);
    damage.push('content type');
  }
  if (random() < 0.03) {
    const zipped = random() < 0.5;
    if (zipped) body = gzipSync(body);
    if (zipped && random() < 0.5) body = withBrokenBytes(body, random);
    headers['content-encoding'] = zipped ? 'gzip' : pick(['gzip', 'br', 'deflate', 'zstd', 'x', 'gzip, gzip, gzip', ''], random);
    damage.push('encoding');
  }
  if (random() < 0.02) {
    headers['authorization'] = pick(['', 'Bearer', 'Bearer \u00ff', `Basic ${key}`, `Bearer ${key} `, `bearer  ${key}`, 'Bearer __proto__'], random);
    damage.push('key');
  }
  const method = random() < 0.01 ? pick(['PUT', 'PATCH', 'DELETE', 'OPTIONS'], random) : 'POST';
  return { protocol, method, path: path(encodeURIComponent(model).replaceAll('%25', '%')), headers, body, damage };
}

/** Odd texts stand in for some values: put in as a mark that no body holds, and replaced in the text. */
function withOddTexts(value: unknown, random: Random): string {
  let text = JSON.stringify(value) ?? '';
  for (let left = random() < 0.7 ? 1 : 3; left > 0; left--) {
    const spots = [...text.matchAll(/:(?:"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|\[\]|\{\})(?=[,}])/g)];
    const spot = spots[Math.floor(random() * spots.length)];
    if (!spot) break;
    text = `${text.slice(0, spot.index)}:${pick(oddTexts, random)(random)}${text.slice(spot.index + spot[0].length)}`;
  }
  return text;
}

const otherCase = (key: string): string =>
  /_/.test(key) ? key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) : key.replace(/([A-Z])/g, (letter) => `_${letter.toLowerCase()}`);

/** A key is given twice, written otherwise, or one that nobody expects stands beside it. */
function withOddKeys(text: string, random: Random): string {
  const spots = [...text.matchAll(/[{,]"((?:[^"\\]|\\.)*)":/g)];
  const spot = spots[Math.floor(random() * spots.length)];
  if (!spot) return text;
  const [all, key = ''] = spot;
  const before = text.slice(0, spot.index) + all[0];
  const after = text.slice(spot.index + 1);
  const rest = after.slice(all.length - 1);
  const how = random();
  if (how < 0.35) return `${before}"${key}":${pick(oddTexts, random)(random)},${after}`;
  if (how < 0.5) return `${before}"${key.toUpperCase()}":${rest}`;
  if (how < 0.65) return `${before}"${otherCase(key)}":${rest}`;
  if (how < 0.75) return `${before}"\\u00${(key.charCodeAt(0) || 0x61).toString(16).slice(-2).padStart(2, '0')}${key.slice(1)}":${rest}`;
  return `${before}${JSON.stringify(pick(oddKeys, random))}:${random() < 0.5 ? '1' : pick(oddTexts, random)(random)},${after}`;
}

function withBrokenBytes(body: Buffer, random: Random): Buffer {
  const at = Math.floor(random() * body.length);
  const how = random();
  if (how < 0.35) return body.subarray(0, at);
  if (how < 0.4) return Buffer.alloc(0);
  if (how < 0.45) return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body]);
  if (how < 0.5) return Buffer.concat([body, body]);
  if (how < 0.55) return Buffer.concat([body, Buffer.from('\u0000 x', 'utf8')]);
  if (how < 0.6) return Buffer.from(body.toString('utf8'), 'utf16le');
  const broken = Buffer.from(body);
  for (let left = Math.floor(random() * 4); left >= 0; left--) {
    const place = Math.floor(random() * broken.length);
    broken[place] = (broken[place] ?? 0) ^ (1 << Math.floor(random() * 8));
  }
  return broken;
}
