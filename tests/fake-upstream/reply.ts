/** From a request and its script to the reply that will be delivered. */
import type { Reply } from './deliver.ts';
import { encodeMessage } from './event-stream.ts';
import { readReply } from './fixtures.ts';
import type { FakeProtocol, Turn } from './protocols/fake-protocol.ts';
import type { Asking } from './routes.ts';
import type { Script } from './script.ts';

const json = (status: number, body: unknown, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  pieces: [JSON.stringify(body)],
});
export const failure = (protocol: FakeProtocol, status: number, code: string, message: string, headers?: Record<string, string>): Reply =>
  json(status, protocol.error(status, code, message), { ...protocol.errorHeaders?.(status, code), ...headers });

let turns = 0;
const turnId = (): string => String(turns++).padStart(6, '0');
let nextCall = 0;
const idAlphabet = 'abcdefghijklmnopqrstuvwxyz';
/** Unique within the process and shaped like real ones. */
function callId(): string {
  let n = nextCall++;
  let tail = '';
  for (let i = 0; i < 6; i++, n = Math.floor(n / 26)) tail = idAlphabet[n % 26] + tail;
  return `call_fake0000000000${tail}`;
}

/** The caller's own words in about four pieces, cut between code points. */
function pieces(text: string): string[] {
  const points = [...text];
  const size = Math.max(1, Math.ceil(points.length / 4));
  const out: string[] = [];
  for (let i = 0; i < points.length; i += size) out.push(points.slice(i, i + size).join(''));
  return out;
}

function chunksOf(script: Script, text: string, toolResult: string | null): string[] {
  if (script.big > 0) return ['x'.repeat(script.big)];
  if (script.chunks > 0) return Array.from({ length: script.chunks }, (_, i) => `word${i} `);
  // Faults need a body long enough to be broken.
  if (script.fault !== null || script.flags.has('midstream-error')) return Array.from({ length: 20 }, (_, i) => `word${i} `);
  return pieces(toolResult === null ? text || 'ok' : `result: ${toolResult}`);
}

/** What a model that a test wrote says to a request: a text, or one call of a tool. */
export type Play = (
  body: Record<string, unknown>,
  path: string,
) => ({ text: string } | { text?: string; call: string; args: Record<string, unknown> | string; also?: { call: string; args: Record<string, unknown> }[] }) & {
  /** Without a signature of its own it gets the vendor's. */
  thinking?: { text: string; signature?: string };
  /** What goes wrong with this one reply: parts of a script, as in `cut@900` or `err:429:rate_limited:1`. */
  script?: string;
};

function playedTurn(asking: Asking, body: Record<string, unknown>, said: ReturnType<Play>, issueSignature: IssueSignature): Turn {
  const { text } = asking.protocol.read(body);
  const tool = 'call' in said ? { id: callId(), name: said.call, args: typeof said.args === 'string' ? said.args : JSON.stringify(said.args) } : null;
  return {
    model: asking.model,
    id: turnId(),
    chunks: said.text === undefined ? [] : pieces(said.text),
    tool,
    inputTokens: countTokens(text),
    outputTokens: 8,
    includeUsage: (body['stream_options'] as { include_usage?: unknown } | undefined)?.include_usage === true,
    cumulative: false,
    ...('call' in said && said.also && { moreCalls: said.also.map(({ call, args }) => ({ id: callId(), name: call, args: JSON.stringify(args) })) }),
    ...(said.thinking && { thinking: { text: said.thinking.text, signature: said.thinking.signature ?? issueSignature() } }),
  };
}

/** The signature that the vendor gives with its thinking. */
export type IssueSignature = () => string;

function turnOf(
  asking: Asking,
  body: Record<string, unknown>,
  script: Script,
  issueSignature: IssueSignature,
  play: (() => ReturnType<Play>) | undefined,
): Turn {
  if (play && script.flags.has('play')) return playedTurn(asking, body, play(), issueSignature);
  const { text, tools, toolResult } = asking.protocol.read(body);
  const usesTool = tools.length > 0 && toolResult === null && script.chunks === 0 && script.big === 0;
  const chunks = chunksOf(script, text, toolResult);
  return {
    model: asking.model,
    id: turnId(),
    // A reply that breaks off says its words in place of the call.
    chunks: usesTool && !script.flags.has('midstream-error') ? [] : chunks,
    tool: usesTool ? { id: callId(), name: tools[0] as string, args: script.args } : null,
    inputTokens: countTokens(text),
    outputTokens: Math.max(1, chunks.length),
    includeUsage: (body['stream_options'] as { include_usage?: unknown } | undefined)?.include_usage === true,
    cumulative: script.flags.has('cumulative'),
    ...(script.flags.has('think') && { thinking: { text: 'I think about it.', signature: issueSignature() } }),
  };
}

const countTokens = (text: string): number => Math.ceil(text.length / 4) + 1;

/** `[type, payload, kind]` as a message of its own; a vendor's event inside a chunk. */
function asMessage(event: unknown): Buffer {
  if (!Array.isArray(event))
    return encodeMessage('event', 'chunk', JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abcdef' }));
  const [type, payload, kind = 'event'] = event as [string, unknown, string?];
  return encodeMessage(kind, type, JSON.stringify(payload));
}

function* framed(events: Iterable<string>, framing: Asking['framing']): Iterable<string | Buffer> {
  if (framing === 'event-stream') {
    for (const event of events) yield asMessage(JSON.parse(event) as unknown);
  } else if (framing === 'json-array') {
    let first = true;
    for (const event of events) {
      yield `${first ? '[' : ',\r\n'}${event}\n`;
      first = false;
    }
    yield first ? '[]' : ']';
  } else for (const event of events) yield framing === 'bare-sse' ? `data: ${event}\r\n\r\n` : event;
}

function* endless(protocol: FakeProtocol, turn: Turn): Iterable<string> {
  const events = protocol.events({ ...turn, tool: null, chunks: ['begin '] });
  // Up to and with the first delta: what comes after it would close the text.
  yield* events.slice(0, events.findIndex((event) => event.includes('begin ')) + 1);
  for (let i = 0; ; i++) yield protocol.delta(turn, `word${i} `.padEnd(1024, '.'), i);
}

function* interrupted(protocol: FakeProtocol, turn: Turn): Iterable<string> {
  const events = protocol.events({ ...turn, tool: null });
  yield* events.slice(0, events.length >> 1);
  yield protocol.midstreamError('The fake upstream is overloaded.');
}

const contentTypes: Record<Asking['framing'], string> = {
  sse: 'text/event-stream',
  'bare-sse': 'text/event-stream',
  'json-array': 'application/json',
  'event-stream': 'application/vnd.amazon.eventstream',
};

function streamed(asking: Asking, turn: Turn, script: Script): Reply {
  const { protocol, framing } = asking;
  const events = script.flags.has('pump') ? endless(protocol, turn) : script.flags.has('midstream-error') ? interrupted(protocol, turn) : protocol.events(turn);
  return { status: 200, headers: { 'content-type': contentTypes[framing] }, pieces: framed(events, framing) };
}

/** The reply to a generation, a count or a listing; null: never answer. */
export function createReply(
  asking: Asking,
  body: Record<string, unknown>,
  script: Script,
  issueSignature: IssueSignature,
  play?: () => ReturnType<Play>,
): Reply | null {
  const { protocol } = asking;
  if (script.flags.has('hang')) return null;
  if (script.flags.has('redir')) return { status: 302, headers: { location: '/v1/elsewhere' }, pieces: [] };
  if (script.error !== null)
    return failure(
      protocol,
      script.error.status,
      script.error.code,
      `The fake upstream answers ${script.error.status}.`,
      script.error.retryAfter === null ? {} : { 'retry-after': script.error.retryAfter },
    );
  if (script.fixture !== null) {
    const { protocol: folder, name, n } = script.fixture;
    const recorded = readReply(folder, name, n);
    return recorded === null ? failure(protocol, 404, 'error', `There is no recording ${folder}/${name}/${n}.`) : { ...recorded, pieces: [recorded.body] };
  }
  if (script.flags.has('garbage'))
    return {
      status: 200,
      headers: { 'content-type': asking.stream ? contentTypes[asking.framing] : 'application/json' },
      pieces: ['data: {"not json\n\n<html>\u0000\n\ndata: [[[\n\n'],
    };
  if (asking.operation === 'count') return json(200, protocol.countTokens(countTokens(protocol.read(body).text)));
  const turn = turnOf(asking, body, script, issueSignature, play);
  if (asking.operation === 'compact')
    return protocol.compact ? json(200, protocol.compact(turn, body, issueSignature())) : failure(protocol, 404, 'not_found', 'There is nothing here.');
  return asking.stream ? streamed(asking, turn, script) : json(200, protocol.whole(turn));
}

export const listReply = (protocol: FakeProtocol, models: readonly string[]): Reply => json(200, protocol.models(models));
