/** What a recorded reply says, read without any of the gateway's code: the oracle for replayed cases. */
import { decodeMessages } from '../fake-upstream/event-stream.ts';
import { readReply } from '../fake-upstream/fixtures.ts';
import type { Said, Stop, UpstreamProtocol } from './sdk-callers.ts';

// Recordings are read freely; a wrong guess shows as a failed comparison.
// biome-ignore lint/suspicious/noExplicitAny: see above.
type Json = any;
export type Recorded = Pick<Said, 'text' | 'thinking' | 'signatures' | 'stop'> & {
  calls: { name: string; args: unknown }[];
  /** null: the recording tells none. */
  usage: Said['usage'] | null;
};

/** Throws when there is no such recording. */
export function readRecorded(protocol: UpstreamProtocol, name: string, n: number): Recorded {
  const reply = readReply(protocol, name, n);
  if (reply === null) throw new Error(`there is no recording ${protocol}/${name}/${n}`);
  // A binary stream begins with a length, of which the first byte is 0.
  if (reply.body[0] === 0) return readers[protocol](decodeMessages(reply.body).map(unwrapped), false);
  const text = reply.body.toString('utf8');
  const whole = /^\s*[{[]/.test(text);
  const events: Json[] = whole
    ? [JSON.parse(text)].flat()
    : text.split(/\r?\n/).flatMap((line) => (/^data: ?\{/.test(line) ? [JSON.parse(line.slice(5))] : []));
  return readers[protocol](events, whole);
}

const parse = (text: string): unknown => JSON.parse(text || '{}');
const stopsOfAlpha: Record<string, Stop> = { stop: 'stop', length: 'length', tool_calls: 'tools' };

function readAlpha(events: Json[]): Recorded {
  let [text, thinking, stop] = ['', '', 'other' as Stop];
  let usage: Json;
  const signatures: string[] = [];
  const calls: { name: string; args: string }[] = [];
  for (const event of events) {
    usage = event.usage ?? usage;
    const choice = event.choices?.[0];
    const delta = choice?.message ?? choice?.delta ?? {};
    text += delta.content ?? '';
    thinking += delta.reasoning_content ?? delta.reasoning ?? '';
    for (const detail of delta.reasoning_details ?? []) if (detail.signature ?? detail.data) signatures.push(detail.signature ?? detail.data);
    for (const [at, call] of (delta.tool_calls ?? []).entries()) {
      const index = call.index ?? at;
      calls[index] ??= { name: '', args: '' };
      calls[index].name += call.function?.name ?? '';
      calls[index].args += call.function?.arguments ?? '';
    }
    if (choice?.finish_reason) stop = stopsOfAlpha[choice.finish_reason] ?? 'other';
  }
  return {
    text,
    thinking,
    signatures,
    stop,
    calls: calls.filter(Boolean).map(({ name, args }) => ({ name, args: parse(args) })),
    usage: usage ? { input: usage.prompt_tokens, output: usage.completion_tokens } : null,
  };
}

function readAlphaResponse(events: Json[], whole: boolean): Recorded {
  const reply = whole ? events[0] : events.findLast((event) => event.response?.output && /completed|incomplete/.test(event.type)).response;
  const reasoning = reply.output.filter((item: Json) => item.type === 'reasoning');
  const calls = reply.output.filter((item: Json) => item.type === 'function_call');
  return {
    text: reply.output
      .flatMap((item: Json) => (item.type === 'message' ? item.content : []))
      .map((part: Json) => part.text ?? '')
      .join(''),
    thinking: reasoning.flatMap((item: Json) => [...(item.summary ?? []), ...(item.content ?? [])].map((part: Json) => part.text)).join(''),
    signatures: reasoning.flatMap((item: Json) => item.encrypted_content ?? []),
    stop: reply.status === 'incomplete' ? 'length' : calls.length > 0 ? 'tools' : 'stop',
    calls: calls.map((item: Json) => ({ name: item.name, args: parse(item.arguments) })),
    usage: { input: reply.usage.input_tokens, output: reply.usage.output_tokens },
  };
}

const stopsOfBeta: Record<string, Stop> = { end_turn: 'stop', max_tokens: 'length', tool_use: 'tools', stop_sequence: 'stop-sequence' };

function readBeta(events: Json[], whole: boolean): Recorded {
  const blocks: Json[] = whole ? events[0].content : [];
  let usage = events[0].usage ?? events[0].message.usage;
  let reason = events[0].stop_reason;
  for (const { type, index, content_block, delta, usage: more } of whole ? [] : events) {
    if (type === 'content_block_start') blocks[index] = { ...content_block, json: '' };
    if (type === 'message_delta') [usage, reason] = [{ ...usage, ...more }, delta.stop_reason];
    if (type !== 'content_block_delta') continue;
    if (delta.text) blocks[index].text += delta.text;
    if (delta.thinking) blocks[index].thinking += delta.thinking;
    if (delta.signature) blocks[index].signature += delta.signature;
    if (delta.partial_json) blocks[index].json += delta.partial_json;
  }
  return {
    text: blocks.map((block) => block.text ?? '').join(''),
    thinking: blocks.map((block) => block.thinking ?? '').join(''),
    signatures: blocks.flatMap((block) => block.signature || (block.type === 'redacted_thinking' && block.data) || []),
    stop: stopsOfBeta[reason] ?? 'other',
    calls: blocks.filter((block) => block.type === 'tool_use').map((block) => ({ name: block.name, args: block.json ? parse(block.json) : block.input })),
    usage: {
      input: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
      output: usage.output_tokens,
    },
  };
}

function readGamma(events: Json[]): Recorded {
  const parts: Json[] = events.flatMap((event) => event.candidates?.[0]?.content?.parts ?? []);
  const reason = events.map((event) => event.candidates?.[0]?.finishReason).findLast(Boolean);
  const usage = events.map((event) => event.usageMetadata).findLast(Boolean);
  const calls = parts.flatMap((part) => (part.functionCall ? [{ name: part.functionCall.name, args: part.functionCall.args ?? {} }] : []));
  const textOf = (thought: boolean) => parts.map((part) => (Boolean(part.thought) === thought ? (part.text ?? '') : '')).join('');
  return {
    text: textOf(false),
    thinking: textOf(true),
    signatures: parts.flatMap((part) => part.thoughtSignature ?? []),
    stop: reason === 'MAX_TOKENS' ? 'length' : reason !== 'STOP' ? 'other' : calls.length > 0 ? 'tools' : 'stop',
    calls,
    usage: { input: usage.promptTokenCount, output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0) },
  };
}

/** A chunk's inner event, or the event with its name. */
const unwrapped = ({ type, payload }: Json): Json =>
  type === 'chunk' ? JSON.parse(Buffer.from(payload.bytes, 'base64').toString('utf8')) : { type, ...payload };

const stopsOfConverse: Record<string, Stop> = { end_turn: 'stop', max_tokens: 'length', tool_use: 'tools', stop_sequence: 'stop-sequence' };

function readConverse(events: Json[], whole: boolean): Recorded {
  const blocks: Json[] = whole ? events[0].output.message.content : [];
  for (const { type, contentBlockIndex: at, start, delta } of whole ? [] : events) {
    if (type === 'contentBlockStart') blocks[at] = { toolUse: { ...start.toolUse, json: '' } };
    if (type !== 'contentBlockDelta') continue;
    blocks[at] ??= delta.reasoningContent ? { reasoningContent: { reasoningText: { text: '', signature: '' } } } : { text: '' };
    if (delta.text) blocks[at].text += delta.text;
    if (delta.toolUse) blocks[at].toolUse.json += delta.toolUse.input;
    const thought = blocks[at].reasoningContent?.reasoningText;
    if (thought)
      [thought.text, thought.signature] = [thought.text + (delta.reasoningContent.text ?? ''), thought.signature + (delta.reasoningContent.signature ?? '')];
  }
  const thoughts = blocks.flatMap((block) => block.reasoningContent?.reasoningText ?? []);
  const reason = whole ? events[0].stopReason : events.find(({ type }) => type === 'messageStop').stopReason;
  const usage = whole ? events[0].usage : events.find(({ type }) => type === 'metadata').usage;
  return {
    text: blocks.map((block) => block.text ?? '').join(''),
    thinking: thoughts.map((thought) => thought.text).join(''),
    signatures: thoughts.flatMap((thought) => thought.signature || []),
    stop: stopsOfConverse[reason] ?? 'other',
    calls: blocks.flatMap(({ toolUse }) => (toolUse ? [{ name: toolUse.name, args: toolUse.json === undefined ? toolUse.input : parse(toolUse.json) }] : [])),
    usage: { input: usage.inputTokens + (usage.cacheReadInputTokens ?? 0) + (usage.cacheWriteInputTokens ?? 0), output: usage.outputTokens },
  };
}

const readers: Record<UpstreamProtocol, (events: Json[], whole: boolean) => Recorded> = {
  alpha: readAlpha,
  alpha_response: readAlphaResponse,
  beta: readBeta,
  gamma: readGamma,
  cloudhost_converse: readConverse,
  cloudhost_invoke: readBeta,
};
