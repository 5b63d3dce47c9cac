import { GatewayError } from '@model-gateway/errors';
import type { Edit } from '@model-gateway/json';
import { Losses } from '../kit/losses.ts';
import { asArray, asObject, asString, own } from '../kit/read.ts';
import { nineCharacterId } from '../kit/short-id.ts';
import type { VerbatimReply, VerbatimReplyContext, VerbatimRequestContext, VerbatimRules } from '../protocol.ts';
import { chatFamily } from './families.ts';
import { blockWords, nestTools, takes } from './mixed-shapes.ts';
import { absentProof } from './proofs.ts';
import { blankReasoning, readReasoningText } from './thinking.ts';

type Path = Edit['path'];

/** One proof found in a body: where it stands, and what goes with it when it may not be sent. */
interface FoundProof {
  path: Path;
  value: string;
  /** The place that is removed when the proof cannot be opened. */
  remove: Path;
}

/** Texts one of which is in every body that holds a proof. */
const marks = ['reasoning_details', 'thought_signature', 'reasoning_opaque', 'thinking_blocks'] as const;
/** Texts one of which is in every body that holds a call or a result. */
const callMarks = ['tool_calls', 'tool_call_id'] as const;

const quoted = (word: string): string => `"${word}"`;
const proofTexts = marks.map(quoted);
const callTexts = callMarks.map(quoted);

/** What `verbatim` looks for in a caller's body. */
export const bodyWords = [...marks, ...callMarks, ...blockWords, 'stream_options', 'input_text'];

/** What changes in bytes that pass from a caller of this protocol to an upstream of it, and back. */
export const verbatim: VerbatimRules = {
  takes,
  requestEdits(context) {
    const losses = new Losses();
    const edits: Edit[] = [{ path: ['model'], value: context.target.upstreamModelId, add: true }];
    if (context.stream && chatFamily(context.target).streamOptions) edits.push(...askForUsage(context));
    if (proofTexts.some((text) => context.contains(text))) edits.push(...openProofs(context, losses));
    if (callTexts.some((text) => context.contains(text))) edits.push(...fitCalls(context, losses));
    if (context.operation === 'generate') edits.push(...nestTools(context));
    return { edits, losses: losses.list };
  },
  createReply: (context) => new AlphaReply(context),
};

const asksForUsage = (streamOptions: unknown): boolean => own(streamOptions, 'include_usage') === true;

/** Usage is always asked for, since the row needs it; the caller who did not ask does not see it. */
function askForUsage(context: VerbatimRequestContext): Edit[] {
  const given = readStreamOptions(context);
  return asksForUsage(given) ? [] : [{ path: ['stream_options'], value: { ...asObject(given), include_usage: true }, add: true }];
}

function readStreamOptions({ contains, value, parse }: VerbatimRequestContext): unknown {
  if (!contains('"stream_options"')) return undefined;
  if (!value) return own(parse(), 'stream_options');
  const bytes = value('stream_options');
  try {
    return bytes && (JSON.parse(bytes.toString('utf8')) as unknown);
  } catch (cause) {
    throw new GatewayError('invalid_json', { cause });
  }
}

/** Sealed proofs in the history: opened for this attempt, or taken out. */
function openProofs(context: VerbatimRequestContext, losses: Losses): Edit[] {
  const messages = asArray(own(context.parse(), 'messages')) ?? [];
  return messages.flatMap((message, index) =>
    findProofs(message, ['messages', index]).flatMap((found): Edit[] => {
      if (found.value === absentProof) return [];
      const opened = context.openSignature(found.value);
      if (opened === null) losses.add('reasoning.signature', 'dropped', 'The proof was issued for another model, upstream or account.');
      return [opened === null ? { path: found.remove, value: undefined } : { path: found.path, value: opened }];
    }),
  );
}

/** What a vendor of this protocol demands of the calls of a history that may have begun at another one. */
function fitCalls(context: VerbatimRequestContext, losses: Losses): Edit[] {
  const family = chatFamily(context.target);
  const fills = context.proofsRefused === true && !family.needsCallProof;
  if (!family.nineCharacterIds && !fills) return [];
  const messages = asArray(own(context.parse(), 'messages')) ?? [];
  if (fills) losses.add('messages.reasoning', 'emulated', 'The vendor demands reasoning with each call; where none is known, a blank was sent.');
  const renamed = family.nineCharacterIds ? messages.flatMap((message, index) => shortenIds(message, ['messages', index])) : [];
  if (renamed.length > 0) losses.add('tool_calls.id', 'renamed', 'This vendor takes ids of nine characters alone.');
  const filled = messages.flatMap((message, index): Edit[] =>
    fills && own(message, 'tool_calls') !== undefined && readReasoningText(message) === ''
      ? [{ path: ['messages', index, 'reasoning_content'], value: blankReasoning, add: true }]
      : [],
  );
  return [...renamed, ...filled];
}

/** Edits of the ids that are not of that form, on call and result alike. */
function shortenIds(message: unknown, path: Path): Edit[] {
  const shorten = (holder: unknown, field: string, at: Path): Edit[] => {
    const id = asString(own(holder, field));
    const short = id === undefined ? undefined : nineCharacterId(id);
    return short === id ? [] : [{ path: [...at, field], value: short }];
  };
  const calls = (asArray(own(message, 'tool_calls')) ?? []).flatMap((call, index) => shorten(call, 'id', [...path, 'tool_calls', index]));
  return [...calls, ...shorten(message, 'tool_call_id', path)];
}

/** Keys one of which is in every message or delta that holds a proof. */
const proofKeys: ReadonlySet<string> = new Set([...marks, 'tool_calls', 'extra_content', 'provider_specific_fields']);
const noProofs: FoundProof[] = [];

/** Every place of a message or delta that holds a proof. */
function findProofs(message: unknown, path: Path): FoundProof[] {
  if (!hasKeyOf(message, proofKeys)) return noProofs;
  const opaque = asString(own(message, 'reasoning_opaque'));
  const details = (asArray(own(message, 'reasoning_details')) ?? []).flatMap((detail, index): FoundProof[] => {
    const entry = [...path, 'reasoning_details', index];
    const data = asString(own(detail, 'data'));
    // Without its data nothing is left of a sealed entry; readable text stays without its signature.
    if (data) return [{ path: [...entry, 'data'], value: data, remove: entry }];
    const signature = asString(own(detail, 'signature'));
    return signature ? [{ path: [...entry, 'signature'], value: signature, remove: [...entry, 'signature'] }] : [];
  });
  const calls = (asArray(own(message, 'tool_calls')) ?? []).flatMap((call, index) => findGoogleProofs(call, [...path, 'tool_calls', index]));
  const blocks = (asArray(own(message, 'thinking_blocks')) ?? []).flatMap((block, index) => findBlockProof(block, [...path, 'thinking_blocks', index]));
  return [
    ...details,
    ...blocks,
    ...(opaque ? [{ path: [...path, 'reasoning_opaque'], value: opaque, remove: [...path, 'reasoning_opaque'] }] : []),
    ...findGoogleProofs(message, path),
    ...calls,
  ];
}

function hasKeyOf(value: unknown, keys: ReadonlySet<string>): boolean {
  if (typeof value !== 'object') return false;
  for (const key in value) if (keys.has(key)) return true;
  return false;
}

/** Blocks of the messages protocol that a proxy carries along; a block without its proof is refused, so it goes as a whole. */
function findBlockProof(block: unknown, path: Path): FoundProof[] {
  const field = own(block, 'type') === 'redacted_thinking' ? 'data' : 'signature';
  const value = asString(own(block, field));
  return value ? [{ path: [...path, field], value, remove: path }] : [];
}

/** `extra_content.google.thought_signature`, and the places where that endpoint and proxies of it repeat it. */
function findGoogleProofs(holder: unknown, path: Path): FoundProof[] {
  const nested = asString(own(own(own(holder, 'extra_content'), 'google'), 'thought_signature'));
  const bare = asString(own(holder, 'thought_signature'));
  const provider = asString(own(own(holder, 'provider_specific_fields'), 'thought_signature'));
  const at = (place: Path, value: string): FoundProof => ({ path: place, value, remove: place });
  return [
    ...(nested ? [at([...path, 'extra_content', 'google', 'thought_signature'], nested)] : []),
    ...(bare ? [at([...path, 'thought_signature'], bare)] : []),
    ...(provider ? [at([...path, 'provider_specific_fields', 'thought_signature'], provider)] : []),
  ];
}

class AlphaReply implements VerbatimReply {
  readonly #context: VerbatimReplyContext;
  #asked: boolean | null = null;
  #terminated = false;

  constructor(context: VerbatimReplyContext) {
    this.#context = context;
  }

  record(record: { data: string; json: unknown }): Edit[] | 'drop' {
    const chunk = asObject(record.json);
    if (!chunk) {
      this.#terminated ||= record.data.trim() === '[DONE]';
      return [];
    }
    const hidesUsage = Object.hasOwn(chunk, 'usage') && !this.#callerAsked();
    // A chunk of nothing but usage would make callers that read `choices[0]` fall over.
    if (hidesUsage && chunk['usage'] !== null && asArray(chunk['choices'])?.length === 0) return 'drop';
    return [...(hidesUsage && chunk['usage'] === null ? [{ path: ['usage'], value: undefined }] : []), ...this.whole(chunk)];
  }

  /** Some vendors end with the finish reason alone; callers of this protocol wait for the terminator. */
  finish(): string {
    return this.#terminated ? '' : 'data: [DONE]\n\n';
  }

  whole(body: unknown): Edit[] {
    const edits: Edit[] = [];
    const model = own(body, 'model');
    if (model !== undefined && model !== this.#context.model) edits.push({ path: ['model'], value: this.#context.model });
    (asArray(own(body, 'choices')) ?? []).forEach((choice, index) => {
      for (const field of ['delta', 'message'] as const) {
        const holder = own(choice, field);
        if (holder === undefined) continue;
        for (const found of findProofs(holder, ['choices', index, field])) edits.push({ path: found.path, value: this.#context.sealSignature(found.value) });
      }
    });
    return edits;
  }

  #callerAsked(): boolean {
    this.#asked ??= asksForUsage(this.#context.requestValue('stream_options'));
    return this.#asked;
  }
}
