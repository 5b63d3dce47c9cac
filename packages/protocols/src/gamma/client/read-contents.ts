/** Reads `contents`: the turns of a conversation, their parts, and which result answers which call. */
import type { Part, SystemPart, TextPart, ThinkingPart, ToolCallPart, ToolResultPart, Turn } from '../../chat/conversation.ts';
import { invalid } from '../../kit/fail.ts';
import type { Losses } from '../../kit/losses.ts';
import { asArray, asObject, asString, type JsonObject } from '../../kit/read.ts';
import { camelName, field, listField, objectField, printJson, requireObjects, requireTexts, standardBase64, textField } from '../shared/fields.ts';
import { readMedia } from '../shared/media.ts';
import { WaitingCalls } from '../shared/waiting-calls.ts';
import { skipSignature } from '../shared/wire.ts';

const roles: ReadonlyMap<string, Turn['role']> = new Map([
  ['user', 'user'],
  ['function', 'user'],
  ['tool', 'user'],
  ['model', 'assistant'],
  ['assistant', 'assistant'],
  ['system', 'system'],
]);

export const readSignature = (part: unknown): string | undefined => {
  const signature = textField(part, 'thoughtSignature');
  if (signature === undefined || signature === '') return undefined;
  return signature === skipSignature ? signature : standardBase64(signature);
};

/** A string, one content or a list of contents. Adjacent contents of the model are one turn: some SDKs keep one content per chunk of a stream. */
export function readContents(value: unknown, losses: Losses): Turn[] {
  if (typeof value === 'string') return [{ role: 'user', parts: [{ type: 'text', text: value }] }];
  const contents = asArray(value) ?? (asObject(value) ? [value] : undefined);
  if (!contents || contents.length === 0) throw invalid('contents', 'must hold at least one content');
  const turns: Turn[] = [];
  const pairing = new Pairing();
  contents.forEach((content, index) => {
    const turn = readContent(content, `contents.${index}`, pairing, losses);
    const last = turns.at(-1);
    if (last && last.role === 'assistant' && turn.role === 'assistant') for (const part of turn.parts) appendModelPart(last.parts, part);
    else turns.push(turn);
  });
  return turns;
}

function readContent(content: unknown, path: string, pairing: Pairing, losses: Losses): Turn {
  if (typeof content === 'string') return { role: 'user', parts: [{ type: 'text', text: content }] };
  if (!asObject(content)) throw invalid(path, 'must be an object');
  const word = textField(content, 'role') ?? 'user';
  const role = roles.get(word === '' ? 'user' : word.toLowerCase());
  if (!role) throw invalid(`${path}.role`, 'must be user or model');
  const parts: Part[] = [];
  const source = field(content, 'parts');
  if (source !== undefined && typeof source !== 'object') throw invalid(`${path}.parts`, 'must be an array of parts');
  listField(content, 'parts').forEach((part, index) => {
    for (const read of readPart(part, `${path}.parts.${index}`, pairing, losses)) {
      if (role === 'assistant') appendModelPart(parts, read);
      else parts.push(read);
    }
  });
  return { role, parts };
}

/**
 * Chunks of one streamed text come back as separate parts and are joined again; so are chunks of one thought, whose signature came last. Nothing is
 * appended to a part with a signature, and a text with one is never joined to another: the vendor checks signatures by part.
 */
function appendModelPart(parts: Part[], part: Part): void {
  const last = parts.at(-1);
  if (part.type === 'text' && last?.type === 'text' && last.signature === undefined && part.signature === undefined) last.text += part.text;
  else if (part.type === 'thinking' && last?.type === 'thinking' && last.signature === undefined) {
    last.text += part.text;
    if (part.signature !== undefined) last.signature = part.signature;
  } else parts.push(part);
}

function readPart(part: unknown, path: string, pairing: Pairing, losses: Losses): Part[] {
  if (!asObject(part)) throw invalid(path, 'must be an object');
  requireShape(part, path);
  if (field(part, 'partMetadata') !== undefined) losses.add('contents.parts.partMetadata', 'dropped', 'What is noted on a part has no counterpart.');
  const signature = readSignature(part);
  const signatureField = signature === undefined ? {} : { signature };
  const call = objectField(part, 'functionCall');
  if (call) return [pairing.addCall({ ...readCall(call, path), ...signatureField })];
  const text = asString(field(part, 'text'));
  if (field(part, 'thought') === true) {
    const thinking: ThinkingPart = { type: 'thinking', text: text ?? '', ...signatureField };
    return thinking.text === '' && signature === undefined ? [] : [thinking];
  }
  // An empty text is a stream's last chunk coming back; with a signature it is kept to carry it.
  if (text !== undefined) return text === '' && signature === undefined ? [] : [{ type: 'text', text, ...signatureField }];
  const response = objectField(part, 'functionResponse');
  const other = response ? pairing.addResult(readResult(response, path, losses)) : (readMedia(part, losses) ?? readCode(part, losses));
  if (!other && signature !== undefined) return [{ type: 'text', text: '', signature }];
  if (!other) {
    losses.unread('contents.parts', part, new Set(), camelName);
    return [];
  }
  if (signature !== undefined) losses.add('contents.parts.thoughtSignature', 'dropped', 'A signature on a part of this kind has no counterpart.');
  return [other];
}

const objectsOfPart = ['inlineData', 'fileData', 'functionCall', 'functionResponse', 'executableCode', 'codeExecutionResult'];

/** What would read as nothing, and leave the turn without it, is refused by name. */
function requireShape(part: unknown, path: string): void {
  requireTexts(part, ['text'], path);
  requireObjects(part, objectsOfPart, path);
  requireTexts(field(part, 'inlineData'), ['mimeType', 'data'], `${path}.inlineData`);
  requireTexts(field(part, 'fileData'), ['mimeType', 'fileUri'], `${path}.fileData`);
}

function readCall(call: JsonObject, path: string): ToolCallPart {
  const name = textField(call, 'name');
  if (name === undefined || name === '') throw invalid(`${path}.functionCall.name`, 'is required');
  const args = field(call, 'args');
  return { type: 'tool-call', id: textField(call, 'id') ?? '', name, arguments: args === undefined ? '' : printJson(args, `${path}.functionCall.args`) };
}

const responseFields = new Set(['id', 'name', 'response', 'parts']);

/** Names under which SDKs and we ourselves wrap a plain text, since `response` must be an object. */
const wrappers = new Set(['result', 'output', 'error']);

function readResult(response: JsonObject, path: string, losses: Losses): ToolResultPart {
  const name = textField(response, 'name');
  if (name === undefined || name === '') throw invalid(`${path}.functionResponse.name`, 'is required');
  losses.unread('contents.parts.functionResponse', response, responseFields, camelName);
  const json = field(response, 'response');
  const keys = Object.keys(asObject(json) ?? {});
  const wrapped = keys.length === 1 && wrappers.has(keys[0]!) ? (json as JsonObject)[keys[0]!] : undefined;
  const media = listField(response, 'parts').flatMap((part) => readMedia(part, losses) ?? []);
  const text: TextPart[] =
    json === undefined || (keys.length === 0 && media.length > 0)
      ? []
      : [{ type: 'text', text: typeof wrapped === 'string' ? wrapped : printJson(wrapped ?? json, `${path}.functionResponse.response`) }];
  return {
    type: 'tool-result',
    callId: textField(response, 'id') ?? '',
    name,
    content: [...text, ...media],
    ...(keys.length === 1 && keys[0] === 'error' && { isError: true }),
    ...(json !== undefined && { json }),
  };
}

/** Code that the vendor ran in an earlier turn: its text stays readable. */
function readCode(part: unknown, losses: Losses): TextPart | null {
  const code = objectField(part, 'executableCode');
  const result = objectField(part, 'codeExecutionResult');
  if (!code && !result) return null;
  losses.add('contents.parts.executableCode', 'downgraded', 'Code that the upstream had run, and its result, became text.');
  const text = code ? (textField(code, 'code') ?? '') : (textField(result, 'output') ?? '');
  // A line of its own for each fence: parts of one turn are joined as they are.
  return { type: 'text', text: `${code ? '\n' : ''}\`\`\`${code ? (textField(code, 'language') ?? '').toLowerCase() : ''}\n${text}\n\`\`\`\n` };
}

/**
 * Ids are optional here, and one side may carry one where the other does not. A result without a known id answers the first unanswered call of its
 * name, and whichever id exists is given to both, so that writers of other protocols find pairs. Nothing is minted.
 */
class Pairing {
  readonly #waiting = new WaitingCalls<ToolCallPart>();
  readonly #ids = new Set<string>();

  addCall(call: ToolCallPart): ToolCallPart {
    this.#ids.add(call.id);
    this.#waiting.add(call, [`name ${call.name}`, call.id === '' ? `anonymous ${call.name}` : `id ${call.id}`]);
    return call;
  }

  addResult(result: ToolResultPart): ToolResultPart {
    const call =
      result.callId === ''
        ? this.#waiting.take(`name ${result.name}`)
        : (this.#waiting.take(`id ${result.callId}`) ?? this.#waiting.take(`anonymous ${result.name}`));
    if (call && call.id === '') {
      // Another call's id, whose own result has come without one.
      if (this.#ids.has(result.callId)) result.callId = '';
      else call.id = result.callId;
    } else if (call && result.callId === '') result.callId = call.id;
    return result;
  }
}

/** `systemInstruction`: a string, a content, or a list of parts. */
export function readSystem(value: unknown, losses: Losses): SystemPart[] {
  if (typeof value === 'string') return value === '' ? [] : [{ text: value }];
  if (value !== undefined && !asArray(value) && !asObject(value)) throw invalid('systemInstruction', 'must be a content or a string');
  const parts = asArray(value) ?? (field(value, 'text') === undefined ? listField(value, 'parts') : [value]);
  parts.forEach((part, index) => {
    requireTexts(part, ['text'], `systemInstruction.parts.${index}`);
  });
  const texts = parts.flatMap((part) => (typeof part === 'string' ? part : (textField(part, 'text') ?? [])));
  if (texts.length < parts.length) losses.add('systemInstruction.parts', 'dropped', 'Only text can stand in a system instruction.');
  return texts.filter((text) => text !== '').map((text) => ({ text }));
}
