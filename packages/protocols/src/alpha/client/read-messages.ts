import { readContent as readBlocks } from '../../beta/index.ts';
import type { Conversation, Part, ToolCallPart, ToolResultPart, Turn } from '../../chat/conversation.ts';
import { argumentText } from '../../kit/argument-text.ts';
import { invalid } from '../../kit/fail.ts';
import type { Losses } from '../../kit/losses.ts';
import { asArray, asString, type JsonObject, own } from '../../kit/read.ts';
import { isResultPart, readContent } from '../shared/read-parts.ts';
import { readSignatureOf } from '../shared/signatures.ts';
import { readThinking } from '../shared/thinking.ts';

type Talk = Pick<Conversation, 'system' | 'turns'>;

/** `messages` (or the Responses shape's `input` and `instructions`, which some clients send here) → leading system text and turns. */
export function readMessages(source: JsonObject, losses: Losses): Talk {
  const talk: Talk = { system: [], turns: [] };
  const instructions = asString(own(source, 'instructions'));
  const given = own(source, 'messages');
  const field = given === undefined && own(source, 'input') !== undefined ? 'input' : 'messages';
  const value = given ?? own(source, 'input');
  const messages = typeof value === 'string' && field === 'input' ? [{ role: 'user', content: value }] : asArray(value);
  if (!messages || messages.length === 0) throw invalid(field, `\`${field}\` must be a list with at least one message.`);
  if (instructions && field === 'input') talk.system.push({ text: instructions });
  for (const [index, message] of messages.entries()) readMessage(message, `${field}[${index}]`, talk, losses);
  return talk;
}

type ReadOne = (message: unknown, param: string, talk: Talk, losses: Losses) => void;

const byRole: Readonly<Record<string, ReadOne>> = {
  system: readSystem,
  developer: readSystem,
  user: readUser,
  assistant: readAssistant,
  tool: readToolResult,
  function: readToolResult,
};

/** Items of the Responses shape that are not messages. */
const byType: Readonly<Record<string, ReadOne>> = {
  function_call: (item, param, talk) => appendTo(talk, 'assistant', [readFlatCall(item, param)]),
  function_call_output: (item, param, talk, losses) =>
    appendTo(talk, 'user', [
      { type: 'tool-result', callId: asString(own(item, 'call_id')) ?? '', content: resultContent(own(item, 'output'), `${param}.output`, losses) },
    ]),
};

function readMessage(message: unknown, param: string, talk: Talk, losses: Losses): void {
  const role = asString(own(message, 'role'));
  const type = asString(own(message, 'type'));
  const read = role !== undefined ? Object.hasOwn(byRole, role) && byRole[role] : type !== undefined && Object.hasOwn(byType, type) && byType[type];
  if (!read) throw invalid(`${param}.role`, 'The role must be system, developer, user, assistant or tool.');
  read(message, param, talk, losses);
}

function readSystem(message: unknown, param: string, talk: Talk, losses: Losses): void {
  if (own(message, 'name') !== undefined) losses.add('messages.system.name', 'dropped', 'Instructions have no names elsewhere.');
  const parts = readContent(own(message, 'content'), `${param}.content`);
  const texts = parts.filter((part) => part.type === 'text');
  if (texts.length !== parts.length) throw invalid(`${param}.content`, 'System content must be text.');
  if (talk.turns.length > 0) talk.turns.push({ role: 'system', parts: texts });
  else for (const { text, cache } of texts) talk.system.push({ text, ...(cache && { cache }) });
}

function readUser(message: unknown, param: string, talk: Talk, losses: Losses): void {
  const name = asString(own(message, 'name'));
  const parts = readMixed(own(message, 'content'), `${param}.content`, 'user', losses);
  talk.turns.push({ role: 'user', parts, ...(name !== undefined && { name }) });
}

/** Blocks of the messages protocol, which some editors put among parts of this one. */
const blocks: ReadonlySet<string> = new Set(['tool_use', 'tool_result', 'image', 'document']);
const isBlock = (part: unknown): boolean => blocks.has(asString(own(part, 'type')) ?? '');

/** `content`, where blocks may stand among the parts. `role`: whose they are; `tool`: they stand inside a result. */
function readMixed(content: unknown, param: string, role: 'user' | 'assistant' | 'tool', losses: Losses): Part[] {
  const list = asArray(content);
  if (!list?.some(isBlock)) return readContent(content, param);
  return list.flatMap((part, index) => (isBlock(part) ? readBlocks([part], `${param}[${index}]`, role, losses) : readContent([part], `${param}[${index}]`)));
}

/** Thinking first, then what was said, then the calls: the order in which this protocol's replies have them. */
function readAssistant(message: unknown, param: string, talk: Talk, losses: Losses): void {
  const parts: Part[] = [...readThinking(message), ...readMixed(own(message, 'content'), `${param}.content`, 'assistant', losses)];
  const refusal = asString(own(message, 'refusal'));
  if (refusal) parts.push({ type: 'refusal', text: refusal });
  if (own(message, 'audio') !== undefined) losses.add('messages.audio', 'dropped', 'Earlier audio answers are only known to the endpoint that gave them.');
  const calls = readCalls(message, param);
  hangMessageSignature(readSignatureOf(message), parts, calls);
  const name = asString(own(message, 'name'));
  talk.turns.push({ role: 'assistant', parts: [...parts, ...calls], ...(name !== undefined && { name }) });
}

function readCalls(message: unknown, param: string): ToolCallPart[] {
  const listed = own(message, 'tool_calls');
  const calls = listed === undefined ? [] : asArray(listed);
  if (!calls) throw invalid(`${param}.tool_calls`, '`tool_calls` must be a list.');
  const parts = calls.map((call, index) => readCall(call, `${param}.tool_calls[${index}]`));
  const legacy = own(message, 'function_call');
  if (parts.length === 0 && legacy !== undefined) parts.push({ type: 'tool-call', id: '', ...readFunctionOf(legacy, `${param}.function_call`) });
  return parts;
}

function readCall(call: unknown, param: string): ToolCallPart {
  const id = asString(own(call, 'id')) ?? '';
  const signature = readSignatureOf(call);
  const signatureField = signature === undefined ? {} : { signature };
  const custom = own(call, 'custom');
  if (custom !== undefined) {
    const name = asString(own(custom, 'name'));
    if (!name) throw invalid(`${param}.custom.name`, 'A tool call needs a name.');
    return { type: 'tool-call', id, name, arguments: asString(own(custom, 'input')) ?? '', custom: true, ...signatureField };
  }
  return { type: 'tool-call', id, ...readFunctionOf(own(call, 'function'), `${param}.function`), ...signatureField };
}

/** Arguments are text on this wire; a few clients send the object itself. */
function readFunctionOf(value: unknown, param: string): { name: string; arguments: string } {
  const name = asString(own(value, 'name'));
  if (!name) throw invalid(`${param}.name`, 'A tool call needs a name.');
  return { name, arguments: argumentText(own(value, 'arguments')) };
}

const readFlatCall = (item: unknown, param: string): ToolCallPart => ({
  type: 'tool-call',
  id: asString(own(item, 'call_id')) ?? asString(own(item, 'id')) ?? '',
  ...readFunctionOf(item, param),
});

/** A signature on the whole message belongs to its first call, else to its last text. */
function hangMessageSignature(signature: string | undefined, parts: Part[], calls: ToolCallPart[]): void {
  if (signature === undefined) return;
  const bearer = calls[0] ?? parts.findLast((part) => part.type === 'text');
  if (bearer) bearer.signature ??= signature;
  else parts.push({ type: 'text', text: '', signature });
}

function readToolResult(message: unknown, param: string, talk: Talk, losses: Losses): void {
  const name = asString(own(message, 'name'));
  appendTo(talk, 'user', [
    {
      type: 'tool-result',
      callId: asString(own(message, 'tool_call_id')) ?? '',
      ...(name !== undefined && { name }),
      content: resultContent(own(message, 'content'), `${param}.content`, losses),
    },
  ]);
}

function resultContent(value: unknown, param: string, losses: Losses): ToolResultPart['content'] {
  const content = readMixed(value, param, 'tool', losses);
  if (!content.every(isResultPart)) throw invalid(param, 'A tool result holds text and media only.');
  return content;
}

/** Results of one step form one turn, and so do calls that come as single items. A turn that begins with a result or a call holds nothing else. */
function appendTo(talk: Talk, role: Turn['role'], parts: (ToolResultPart | ToolCallPart)[]): void {
  const last = talk.turns.at(-1);
  if (last?.role === role && (last.parts.length === 0 || last.parts[0]?.type === parts[0]?.type)) last.parts.push(...parts);
  else talk.turns.push({ role, parts });
}
