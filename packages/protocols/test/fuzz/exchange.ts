/** One changed request or reply of a pair, driven as the translator drives it, without any I/O: gives every rule that was broken. */
import { isGatewayError } from '@model-gateway/contracts/errors';
import { applyEdits } from '@model-gateway/json-bytes';
import { type ChatEvent, foldEvents, promptPrefix, type ReplyContext, type ReplyReader } from '../../src/index.ts';
import { own } from '../../src/kit/read.ts';
import { type Asked, ask, contextOf, type Pair, unwrapped, verbatimContext } from '../board/cross.ts';
import { bytes, echoOf, target, terminatorContext, validate, writeContext } from '../laws/harness.ts';
import type { FuzzedRecord } from './replies.ts';

/** Rules about what an upstream's model said, which a writer does not correct: a model may write broken JSON, or a call without a name. */
const upstreamsOwn = /arguments are no JSON|input is no JSON object|no JSON object|has no name|without a name/;

const noUsage = { input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };

export interface RequestOutcome {
  /** null: refused, as a caller's fault that names its field. */
  asked: Asked | null;
  faults: string[];
}

/** A body of a caller → what the upstream gets. */
export function sendRequest(pair: Pair, body: object): RequestOutcome {
  const { upstream, target: to } = pair.upstream;
  const before = JSON.stringify(body);
  try {
    const asked = ask(pair, body);
    const sent = JSON.parse(asked.text) as unknown;
    const context = { ...writeContext(true, to) };
    const edits = upstream.normalize?.((key) => own(sent, key), context).edits ?? [];
    const text = applyEdits(asked.text, edits);
    JSON.parse(text);
    promptPrefix(sent);
    const faults = asked.losses.filter(({ field, detail }) => field === '' || detail === '').map(() => 'a loss without words');
    if (JSON.stringify(body) !== before) faults.push('the caller’s body was changed');
    return { asked, faults };
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    const named = error.code === 'invalid_request' && typeof error.param === 'string';
    return { asked: null, faults: named ? [] : [`refused with ${error.code} and no field: ${error.message}`] };
  }
}

/** A plain request of this pair, for replies whose request was refused. */
export const plainAsked = ({ client }: Pair): Asked => ({ text: '{}', sent: '{}', losses: [], rules: null, echo: echoOf(client), marked: false });

/** Blocks open in order, deltas only in open ones, everything closed before the finish, nothing after the end. */
export function orderFaults(events: readonly ChatEvent[]): string[] {
  const open = new Set<number>();
  const faults: string[] = [];
  let next = 0;
  let over = false;
  let finished = false;
  for (const event of events) {
    if (finished && 'index' in event) faults.push(`${event.type} after the finish`);
    if (event.type === 'finish') {
      if (finished) faults.push('a second finish');
      finished = true;
    }
    if (over) faults.push(`${event.type} after the end`);
    if (event.type === 'block-start') {
      if (event.index !== next++) faults.push(`block ${event.index} out of order`);
      open.add(event.index);
    } else if ('index' in event && !open.has(event.index)) faults.push(`${event.type} of a closed block`);
    if (event.type === 'block-end') open.delete(event.index);
    if (event.type === 'finish' && open.size > 0) faults.push('finish with open blocks');
    over = event.type === 'end' || event.type === 'error';
  }
  return faults;
}

/** Records → events, as the pump takes them: until the end, an error, or what is no JSON. null: the stream broke there. */
function readRecords({ upstream }: Pair, records: readonly FuzzedRecord[], reader: ReplyReader, take: (record: FuzzedRecord) => void): ChatEvent[] | null {
  const events: ChatEvent[] = [];
  const over = (): boolean => events.some(({ type }) => type === 'end' || type === 'error');
  for (const { event, failure, json, data: text } of records) {
    const data = json === undefined ? text : JSON.stringify(json);
    const outer = { event, failure, data, raw: bytes(data) };
    const framed = upstream.upstream.unwrapRecord?.(outer) ?? outer;
    const inner = parsed(framed.data);
    if (framed.failure === undefined && inner === undefined && framed.data.trim() !== '[DONE]') {
      if (framed.data.trim() === '') continue;
      return null;
    }
    const record = { event: framed.event, failure: framed.failure, data: framed.data, json: inner };
    events.push(...reader.read(record));
    take(record);
    if (over()) break;
  }
  events.push(...reader.finish());
  return events;
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return undefined;
  }
}

/** A stream's records → what the caller receives, ended by the stream terminator where the upstream did not end it. */
export function answerStream(pair: Pair, asked: Asked, records: readonly FuzzedRecord[]): string[] {
  const { upstream, target: to } = pair.upstream;
  const passing = asked.rules?.createReply(verbatimContext(asked));
  let passed = '';
  const events = readRecords(pair, records, upstream.createReader(to), (record) => {
    const edits = passing?.record(record);
    if (edits && edits !== 'drop') passed += `data: ${record.json === undefined ? record.data : applyEdits(record.data, edits)}\n\n`;
  });
  if (passing) return events ? orderFaults(events).concat(close(pair, passed, false)) : [];
  const { read } = unwrapped(asked, events ?? []);
  const faults = orderFaults(events ?? []);
  const writer = pair.client.client.createWriter(sealing(asked));
  const counted = read.some(({ type }) => type === 'usage');
  let text = '';
  for (const event of read) {
    if (event.type === 'error') break;
    if (event.type === 'end' && !counted) text += writer.write({ type: 'usage', usage: noUsage, estimated: true });
    text += writer.write(event);
  }
  return [...faults, ...close(pair, text, true)];
}

/** Signatures are sealed into standard base64, whatever the upstream sent. */
const sealing = (asked: Asked): ReplyContext => ({
  ...contextOf(asked),
  sealSignature: (signature) => Buffer.from(`sealed ${signature}`, 'utf8').toString('base64'),
});

/** What the caller has received, with the stream terminator's ending if it is incomplete. */
function close({ client }: Pair, text: string, judged: boolean): string[] {
  const terminator = client.client.createTerminator(terminatorContext());
  terminator.observe(bytes(text));
  const whole = text + terminator.close({ reason: 'upstream_broken', detail: 'd', timestamp: '2026-01-01T00:00:00.000Z' });
  return judged ? validate(client, whole).filter((fault) => !upstreamsOwn.test(fault)) : [];
}

/** A whole body → what the caller gets: read back, it says the same. */
export function answerBody(pair: Pair, asked: Asked, body: unknown): string[] {
  const { client, upstream } = pair;
  const events = upstream.upstream.readWhole(body, upstream.target);
  const faults = orderFaults(events);
  if (asked.rules) {
    applyEdits(JSON.stringify(body), asked.rules.createReply(verbatimContext(asked)).whole(body));
    return faults;
  }
  if (!events.some(({ type }) => type === 'end') || events.some(({ type }) => type === 'error')) return faults;
  const message = foldEvents(unwrapped(asked, events).read);
  const { body: printed, losses } = client.client.writeWhole(message, sealing(asked));
  const written = JSON.parse(JSON.stringify(printed)) as unknown;
  // The older form of chat completions holds one call, and says so.
  if (losses.some(({ field }) => field === 'tool_calls')) return faults;
  const seen = foldEvents(client.upstream.readWhole(written, target));
  const [said, received] = [meaning(message), meaning(seen)].map((one) => JSON.stringify(one));
  return said === received ? faults : [...faults, `${said} became ${received}`];
}

/** How much was said, as text or refusal, and the number of calls that have a name, whatever their arguments are. */
function meaning({ blocks }: ReturnType<typeof foldEvents>): Record<string, unknown> {
  const said = blocks.map(({ start, text }) => (start.type === 'text' || start.type === 'refusal' ? text.length : 0));
  return {
    said: said.reduce((sum, one) => sum + one, 0),
    calls: blocks.filter(({ start }) => start.type === 'tool-call' && start.name !== '').length,
  };
}
