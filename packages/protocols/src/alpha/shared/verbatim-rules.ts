import { isUnary } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Edit } from '@model-gateway/json-bytes';
import type { ClosedFields } from '@model-gateway/model-catalog';
import type { VerbatimReply, VerbatimReplyContext, VerbatimRequestContext, VerbatimRules } from '../../contract/index.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asObject, own } from '../../kit/read.ts';
import { nineCharacterId } from '../../kit/short-id.ts';
import { isAudioOperation } from './audio.ts';
import { argumentEdits } from './broken-arguments.ts';
import { closedEdits, orderEdits } from './closed-fields.ts';
import { fitMessages, messageWords } from './earlier-messages.ts';
import { createEmbeddingsReply } from './embeddings.ts';
import { chatFamily } from './families.ts';
import { isImageOperation } from './images.ts';
import { blockWords, nestTools, takes } from './mixed-shapes.ts';
import { schemaEdits, schemaWord } from './schema-in-words.ts';
import { findSignatures } from './signature-positions.ts';
import { systemEdits } from './system-edits.ts';
import { unionEdits } from './union-edits.ts';
import { mediaWords, unreadEdits } from './unread-media.ts';

/** What `verbatim` looks for in a caller's body. */
export const bodyWords = [...messageWords, ...blockWords, 'stream_options', 'input_text', ...mediaWords, schemaWord];

/** What changes in bytes that pass from a caller of this protocol to an upstream of it, and back. */
export const verbatim: VerbatimRules = {
  takes,
  requestEdits(context) {
    const losses = new Losses();
    const edits: Edit[] = [{ path: ['model'], value: context.target.upstreamModelId, add: true }];
    if (isUnary(context.operation)) return { edits, losses: [] };
    if (context.stream && chatFamily(context.target).streamOptions) edits.push(...askForUsage(context));
    edits.push(...fitMessages(context, losses));
    if (context.operation === 'generate') edits.push(...nestTools(context), ...unreadEdits(context, losses), ...argumentEdits(context, losses));
    if (context.operation === 'generate') edits.push(...schemaEdits(context, edits, losses), ...unionEdits(context, edits));
    return { edits: fitSchema(edits, context, losses), losses: losses.list };
  },
  createReply(context) {
    if (context.operation === 'embed') return createEmbeddingsReply(context);
    // Replies with images and audio name no model, and their streams have no terminator.
    return isImageOperation(context.operation) || isAudioOperation(context.operation) ? unnamedReply : new AlphaReply(context);
  },
};

/** For a vendor with a closed schema, or one that takes a single system message: without what it refuses, and with the mark by which it continues a begun reply. */
function fitSchema(edits: Edit[], context: VerbatimRequestContext, losses: Losses): Edit[] {
  const { onlyFields, begunReply, laterSystem } = chatFamily(context.target);
  if (context.operation !== 'generate') return edits;
  if (!onlyFields) return laterSystem ? edits : replaceEdits(edits, systemEdits(asArray(own(context.parse(), 'messages')) ?? [], losses));
  const body = context.parse();
  const taken = [
    ...orderEdits(asArray(own(body, 'messages')) ?? [], nineCharacterId, losses),
    ...closedEdits(body, { ...onlyFields, messages: withoutAssistant(onlyFields.messages) }, losses),
  ];
  const messages = asArray(own(body, 'messages')) ?? [];
  const last = messages.at(-1);
  const begun = begunReply !== null && own(last, 'role') === 'assistant' && !asArray(own(last, 'tool_calls'))?.length && own(last, begunReply) === undefined;
  const mark: Edit[] = begun ? [{ path: ['messages', messages.length - 1, begunReply], value: true, add: true }] : [];
  return [...replaceEdits(edits, taken), ...mark];
}

/** Further edits, and of those before what does not lie within them. */
const replaceEdits = (edits: readonly Edit[], further: readonly Edit[]): Edit[] => [
  ...edits.filter(({ path }) => !further.some((edit) => edit.path.every((step, at) => path[at] === step))),
  ...further,
];

/** Assistant messages and their signatures are handled in `earlier-messages.ts`. */
function withoutAssistant({ assistant: _assistant, ...others }: ClosedFields['messages']): ClosedFields['messages'] {
  return others;
}

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

const unnamedReply: VerbatimReply = { record: () => [], whole: () => [] };

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
        for (const found of findSignatures(holder, ['choices', index, field]))
          edits.push({ path: found.path, value: this.#context.sealSignature(found.value) });
      }
    });
    return edits;
  }

  #callerAsked(): boolean {
    this.#asked ??= asksForUsage(this.#context.requestValue('stream_options'));
    return this.#asked;
  }
}
