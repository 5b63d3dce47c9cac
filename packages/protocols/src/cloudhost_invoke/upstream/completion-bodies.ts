/** Models that complete a prompt (Llama, the first Mistral models, Titan): their bodies as one table, and one reader for all. */
import { noUsage, type Usage } from '@model-gateway/contracts';
import type { BodyLayout } from '../../body-layout.ts';
import type { Conversation, Sampling } from '../../chat/conversation.ts';
import type { ChatEvent, FinishReason } from '../../chat/event.ts';
import type { ReplyReader, StreamRecord, Target, WriteRequestContext, WrittenRequest } from '../../contract/index.ts';
import { settingNames } from '../../kit/caller-fields.ts';
import { fitTokens } from '../../kit/limit-tokens.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asCount, asString, type JsonObject, own } from '../../kit/read.ts';
import type { BodyShape } from './body-shape.ts';
import { bare, instruct, llama3, llama4, putSystem, type Template, writePrompt } from './prompt.ts';

interface Completion {
  template(target: Target): Template;
  /** The body's key of the prompt. */
  prompt: string;
  write(prompt: string, settings: Settings): JsonObject;
  /** Which of the optional settings the body has a place for. */
  takes: readonly ('topK' | 'stop')[];
  /** Where the text, the reason and the counts stand, in a chunk or a whole reply. */
  text(json: unknown): string | undefined;
  reason(json: unknown): string | undefined;
  counts(json: unknown): { input: unknown; output: unknown };
}
type Settings = Pick<Sampling, 'maxTokens' | 'temperature' | 'topP' | 'topK' | 'stop'>;

const given = (fields: JsonObject): JsonObject => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
const first = (json: unknown, list: string): unknown => asArray(own(json, list))?.[0];

const llama: Completion = {
  template: ({ upstreamModelId, modelId }) => (/llama-?4/i.test(`${modelId ?? ''} ${upstreamModelId}`) ? llama4 : llama3),
  prompt: 'prompt',
  write: (prompt, { maxTokens, temperature, topP }) => ({ prompt, ...given({ max_gen_len: maxTokens, temperature, top_p: topP }) }),
  takes: [],
  text: (json) => asString(own(json, 'generation')),
  reason: (json) => asString(own(json, 'stop_reason')),
  counts: (json) => ({ input: own(json, 'prompt_token_count'), output: own(json, 'generation_token_count') }),
};

const mistral: Completion = {
  template: () => instruct,
  prompt: 'prompt',
  write: (prompt, { maxTokens, temperature, topP, topK, stop }) => ({
    prompt,
    ...given({ max_tokens: maxTokens, temperature, top_p: topP, top_k: topK, stop }),
  }),
  takes: ['topK', 'stop'],
  text: (json) => asString(own(first(json, 'outputs'), 'text')),
  reason: (json) => asString(own(first(json, 'outputs'), 'stop_reason')),
  counts: () => ({ input: undefined, output: undefined }),
};

const titan: Completion = {
  template: () => bare,
  prompt: 'inputText',
  write: (inputText, { maxTokens, temperature, topP, stop }) => ({
    inputText,
    textGenerationConfig: given({ maxTokenCount: maxTokens, temperature, topP, stopSequences: stop }),
  }),
  takes: ['stop'],
  text: (json) => asString(own(json, 'outputText')) ?? asString(own(first(json, 'results'), 'outputText')),
  reason: (json) => {
    const said = asString(own(json, 'completionReason')) ?? asString(own(first(json, 'results'), 'completionReason'));
    return said ?? (own(json, 'amazon-bedrock-guardrailAction') === 'INTERVENED' ? 'GUARDRAIL' : undefined);
  },
  counts: (json) => ({
    input: own(json, 'inputTextTokenCount'),
    output: own(json, 'totalOutputTextTokenCount') ?? own(first(json, 'results'), 'tokenCount'),
  }),
};

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['length', 'length'],
  ['finish', 'stop'],
  ['stop_criteria_met', 'stop-sequence'],
  ['content_filtered', 'content-filter'],
  ['guardrail', 'content-filter'],
]);

function writeRequest(completion: Completion, conversation: Conversation, { target }: WriteRequestContext): WrittenRequest {
  const losses = new Losses();
  const prompt = writePrompt(conversation, completion.template(target), losses);
  const { sampling, reasoning, output } = conversation;
  for (const name of ['topK', 'stop'] as const) {
    if (sampling[name] !== undefined && !completion.takes.includes(name)) losses.add(settingNames[name], 'dropped', 'this model takes none');
  }
  for (const name of ['seed', 'presencePenalty', 'frequencyPenalty', 'logitBias', 'topLogprobs'] as const) {
    const neutral = name.endsWith('Penalty') && sampling[name] === 0;
    if (sampling[name] !== undefined && !neutral) losses.add(settingNames[name], 'dropped', 'has no counterpart');
  }
  declareSettings(conversation, losses);
  if (reasoning && reasoning.enabled !== false) losses.add('reasoning', 'dropped', 'this model does not think');
  if (output && output.type !== 'text') losses.add('response_format', 'dropped', 'this model completes text');
  const maxTokens = fitTokens('max_tokens', sampling.maxTokens, target, losses);
  return { body: completion.write(prompt, { ...sampling, ...(maxTokens !== undefined && { maxTokens }) }), losses: losses.list };
}

/** What a request may say beside its conversation, and these bodies have no place for. */
function declareSettings(conversation: Conversation, losses: Losses): void {
  const { sampling, user, safetyIdentifier, metadata, verbosity, serviceTier, promptCacheKey, parallelToolCalls } = conversation;
  const given: readonly (readonly [string, unknown])[] = [
    ['logprobs', sampling.logprobs || undefined],
    ['n', (sampling.choices ?? 1) > 1 ? sampling.choices : undefined],
    ['user', user],
    ['safety_identifier', safetyIdentifier],
    ['metadata', metadata],
    ['verbosity', verbosity],
    ['service_tier', serviceTier],
    ['prompt_cache_key', promptCacheKey],
    ['parallel_tool_calls', parallelToolCalls],
  ];
  for (const [field, value] of given) if (value !== undefined) losses.add(field, 'dropped', 'has no counterpart');
}

/** One text block; the chunk that names a reason is the last. */
class CompletionReader implements ReplyReader {
  readonly #completion: Completion;
  #started = false;
  #over = false;
  #input = 0;

  constructor(completion: Completion) {
    this.#completion = completion;
  }

  read({ json }: StreamRecord): ChatEvent[] {
    const text = this.#completion.text(json);
    const reason = this.#completion.reason(json);
    if (this.#over || (text === undefined && reason === undefined)) return [];
    const events: ChatEvent[] = this.#started ? [] : [{ type: 'start' }, { type: 'block-start', index: 0, block: { type: 'text' } }];
    this.#started = true;
    if (text !== undefined && text !== '') events.push({ type: 'text-delta', index: 0, text });
    const counts = this.#completion.counts(json);
    this.#input = Math.max(this.#input, asCount(counts.input));
    if (reason === undefined) return events;
    this.#over = true;
    events.push({ type: 'block-end', index: 0 }, { type: 'finish', reason: reasons.get(reason.toLowerCase()) ?? 'other', native: reason });
    if (counts.output !== undefined) events.push({ type: 'usage', usage: { ...noUsage, input: this.#input, output: asCount(counts.output) } satisfies Usage });
    return events;
  }

  /** The host ends the reply. */
  finish(): ChatEvent[] {
    return [];
  }
}

/** A prompt is one text: of all parts it has a place for system text alone, before the turns. */
const anatomyOf = (key: string, template: Template): BodyLayout => ({
  content: [],
  kindsOf: () => [],
  textBlock: () => null,
  tools: { places: [], namesOf: () => [], choices: [], meaningless: [] },
  systemNeeds: [{ path: [key], depth: 'text' }],
  injectSystem(body, text) {
    const prompt = asString(own(body, key));
    return prompt === undefined ? [] : [{ path: [key], value: putSystem(prompt, text, template) }];
  },
});

function anatomies({ template, prompt }: Completion): BodyShape['layout'] {
  const known = new Map<Template, BodyLayout>();
  return (target) => {
    const used = template(target);
    const layout = known.get(used) ?? anatomyOf(prompt, used);
    known.set(used, layout);
    return layout;
  };
}

const shapeFor = (completion: Completion): BodyShape => ({
  layout: anatomies(completion),
  writeRequest: (conversation, context) => writeRequest(completion, conversation, context),
  createReader: () => new CompletionReader(completion),
  readWhole: (json) => {
    const events = new CompletionReader(completion).read({ data: '', json });
    return events.some(({ type }) => type === 'finish') ? [...events, { type: 'end' }] : events;
  },
});

export const llamaShape = shapeFor(llama);
export const mistralShape = shapeFor(mistral);
export const titanShape = shapeFor(titan);
