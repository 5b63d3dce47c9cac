/** What a model would refuse of the messages of a body that passes as it is: they may have been made by, or for, another vendor's model. */
import type { Edit } from '@model-gateway/json-bytes';
import type { VerbatimRequestContext } from '../../contract/index.ts';
import type { Losses } from '../../kit/losses.ts';
import { asArray, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { nineCharacterId } from '../../kit/short-id.ts';
import { type ChatFamily, chatFamily } from './families.ts';
import { canStopThinking } from './reasoning.ts';
import { type FoundSignature, findSignatures, signatureWords } from './signature-positions.ts';
import { absentSignature, writeSignature } from './signatures.ts';
import { blankReasoning, readReasoningText, reasoningFields } from './thinking.ts';

type Path = Edit['path'];

const quoted = (word: string): string => `"${word}"`;
const newerRole = 'developer';
const callWords = ['tool_calls', 'tool_call_id'] as const;
const assistant = 'assistant';
const signatureTexts = signatureWords.map(quoted);
const callTexts = callWords.map(quoted);
const reasoningTexts = reasoningFields.map(quoted);

/** What `fitMessages` looks for in a body. */
export const messageWords: readonly string[] = [...signatureWords, ...callWords, ...reasoningFields, newerRole, assistant];

/** What this request asks of its messages, beside what the model's family does. */
interface Rules {
  context: VerbatimRequestContext;
  family: ChatFamily;
  losses: Losses;
  /** The first call of a message must carry a signature. */
  callSignatures: boolean;
  /** Which messages must have readable reasoning. */
  reasoning: 'none' | 'with-calls' | 'all';
}

/** Edits of `messages`, and of the setting for thinking where they leave no other way. A body that holds nothing to change is not parsed. */
export function fitMessages(context: VerbatimRequestContext, losses: Losses): Edit[] {
  const family = chatFamily(context.target);
  const refused = context.signaturesRefused?.about;
  const holds = (texts: readonly string[]): boolean => texts.some((text) => context.contains(text));
  const holdsCalls = holds(callTexts);
  const callSignatures = holdsCalls && (family.needsCallSignature || refused === 'call-signature');
  const looks =
    holds(signatureTexts) ||
    (holdsCalls && (family.nineCharacterIds || callSignatures || (family.demandsReasoning !== 'never' && mayThink(context, family)))) ||
    (family.forbidsReasoning && holds(reasoningTexts)) ||
    (family.assistantFields !== null && context.contains(quoted(assistant))) ||
    (!family.developerRole && context.contains(quoted(newerRole))) ||
    refused === 'reasoning';
  if (!looks) return [];
  const body = context.parse();
  const thinks = family.demandsReasoning !== 'never' && isThinking(own(body, 'thinking'), family);
  const reasoning = refused === 'reasoning' ? 'all' : thinks ? 'with-calls' : 'none';
  const rules: Rules = { context, family, losses, callSignatures, reasoning };
  const edits = (asArray(own(body, 'messages')) ?? []).flatMap((message, index) => fitMessage(message, ['messages', index], rules));
  // What stands for reasoning was sent before the refusal: no other way is left.
  if (refused !== 'reasoning' || !thinks || family.reasoning !== 'thinking-type' || !canStopThinking(family)) return edits;
  losses.add('thinking', 'dropped', 'The calls being answered came without reasoning that can be replayed.');
  return [...edits, { path: ['thinking'], value: { type: 'disabled' }, add: true }];
}

/** Whether the model may think on this request: without parsing the whole of it, where the edge noted the place of the setting. */
function mayThink(context: VerbatimRequestContext, family: ChatFamily): boolean {
  if (!canStopThinking(family)) return family.demandsReasoning === 'unless-off';
  const bytes = context.value?.('thinking');
  if (bytes === undefined) return family.demandsReasoning === 'unless-off' || context.value === undefined;
  return !bytes.includes('"disabled"');
}

const isThinking = (setting: unknown, family: ChatFamily): boolean => {
  if (!canStopThinking(family)) return family.demandsReasoning === 'unless-off';
  const type = own(setting, 'type');
  return type === undefined ? family.demandsReasoning === 'unless-off' : type !== 'disabled';
};

function fitMessage(message: unknown, path: Path, rules: Rules): Edit[] {
  const { family, losses } = rules;
  const object = asObject(message);
  if (!object) return [];
  const role = own(object, 'role');
  if (role === newerRole && !family.developerRole) {
    losses.add('messages.role', 'renamed', 'This model knows the role of a developer as the system.');
    return [{ path: [...path, 'role'], value: 'system' }];
  }
  if (role !== assistant) return family.nineCharacterIds ? shortenIds(object, path, losses) : [];
  const signatures = openSignatures(object, path, rules);
  const given = forbiddenFields(object, signatures, rules).map((field): Edit => ({ path: [...path, field], value: undefined }));
  // Nothing can be changed within what goes as a whole.
  const within = [...signatures.edits, ...(family.nineCharacterIds ? shortenIds(object, path, losses) : [])].filter(
    (edit) => !given.some((removed) => removed.path.every((step, at) => edit.path[at] === step)),
  );
  return [...given, ...within, ...fillReasoning(object, path, signatures, rules)];
}

interface OpenedSignatures {
  edits: Edit[];
  /** At least one is this upstream's own: it takes the fields that it gave. */
  own: boolean;
}

/** Opens signatures for this attempt or removes them; calls that must have one get the vendor's placeholder value. */
function openSignatures(message: JsonObject, path: Path, { context, losses, callSignatures }: Rules): OpenedSignatures {
  const edits: Edit[] = [];
  let own_ = false;
  const proven = new Set<number>();
  for (const found of findSignatures(message, path)) {
    const opened = found.value === absentSignature ? null : context.openSignature(found.value);
    if (opened !== null) {
      own_ = true;
      if (found.call !== undefined) proven.add(found.call);
      edits.push({ path: found.path, value: opened });
    } else if (callSignatures && isFirstCall(found)) {
      proven.add(0);
      if (found.value !== absentSignature) edits.push({ path: found.path, value: absentSignature });
    } else {
      if (found.value !== absentSignature) losses.add('reasoning.signature', 'dropped', 'The signature was issued for another model, upstream or account.');
      edits.push({ path: found.remove, value: undefined });
    }
  }
  const first = asObject(asArray(own(message, 'tool_calls'))?.[0]);
  if (callSignatures && first && !proven.has(0)) edits.push(...addAbsentSignature(first, [...path, 'tool_calls', 0], losses));
  return { edits, own: own_ };
}

const isFirstCall = ({ call, path }: FoundSignature): boolean => call === 0 && path.includes('extra_content');

/** Adds the vendor's placeholder value for a missing signature. */
function addAbsentSignature(call: JsonObject, path: Path, losses: Losses): Edit[] {
  losses.add('messages.tool_calls.signature', 'emulated', 'A call without a signature of its own was sent with the value that skips the check.');
  const { extra_content } = writeSignature(absentSignature);
  const extra = asObject(own(call, 'extra_content'));
  if (!extra) return [{ path: [...path, 'extra_content'], value: extra_content, add: true }];
  return [{ path: [...path, 'extra_content', 'google'], value: { ...asObject(own(extra, 'google')), ...extra_content.google }, add: true }];
}

/** Fields of an assistant's message that the model's vendor refuses. What came from this very upstream stays. */
function forbiddenFields(message: JsonObject, signatures: OpenedSignatures, { family, losses }: Rules): string[] {
  const { assistantFields } = family;
  const isForbidden = (field: string): boolean =>
    (assistantFields !== null && !assistantFields.includes(field)) || (family.forbidsReasoning && !signatures.own && reasoningHolders.has(field));
  const fields = Object.keys(message).filter(isForbidden);
  for (const field of fields) {
    // Nothing is said of what says nothing.
    if (own(message, field) === undefined || asArray(own(message, field))?.length === 0) continue;
    if (reasoningHolders.has(field)) losses.add('messages.reasoning', 'dropped', 'This model does not take earlier reasoning back.');
    else losses.add(`messages.${field}`, 'dropped', 'This model does not take the field.');
  }
  return fields;
}

const reasoningHolders: ReadonlySet<string> = new Set([...reasoningFields, 'reasoning_details', 'reasoning_opaque', 'thinking_blocks']);

/** A blank where a vendor demands the reasoning that led to a call and none is known. */
function fillReasoning(message: JsonObject, path: Path, signatures: OpenedSignatures, { reasoning, losses }: Rules): Edit[] {
  const hasCalls = (asArray(own(message, 'tool_calls'))?.length ?? 0) > 0;
  if (reasoning === 'none' || (reasoning === 'with-calls' && !hasCalls) || signatures.own || readReasoningText(message) !== '') return [];
  losses.add('messages.reasoning', 'emulated', 'The vendor demands reasoning with each call; where none is known, a blank was sent.');
  return [{ path: [...path, 'reasoning_content'], value: blankReasoning, add: true }];
}

/** Edits of the ids that are not of the one form that is taken, on call and result alike. */
function shortenIds(message: JsonObject, path: Path, losses: Losses): Edit[] {
  const shorten = (holder: unknown, field: string, at: Path): Edit[] => {
    const id = asString(own(holder, field));
    const short = id === undefined ? undefined : nineCharacterId(id);
    return short === id ? [] : [{ path: [...at, field], value: short }];
  };
  const calls = (asArray(own(message, 'tool_calls')) ?? []).flatMap((call, index) => shorten(call, 'id', [...path, 'tool_calls', index]));
  const edits = [...calls, ...shorten(message, 'tool_call_id', path)];
  if (edits.length > 0) losses.add('tool_calls.id', 'renamed', 'This vendor takes ids of nine characters alone.');
  return edits;
}
