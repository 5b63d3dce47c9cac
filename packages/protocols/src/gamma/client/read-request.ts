/** A caller's generateContent, streamGenerateContent or countTokens body as a canonical request. */
import type { Conversation, OutputFormat, Reasoning, Sampling } from '../../chat/conversation.ts';
import type { ReadRequest, ReadRequestContext } from '../../contract/index.ts';
import { invalid } from '../../kit/fail.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asBoolean, asObject, type JsonObject, own } from '../../kit/read.ts';
import { camelName, field, numberField, objectField, requireList, requireObjects, requireTexts, textField } from '../shared/fields.ts';
import { readSchema } from '../shared/schema.ts';
import { readToolChoice, readTools } from '../shared/tools.ts';
import { type Echo, enumAnswer } from '../shared/wire.ts';
import { isHosted } from './hosted-tools.ts';
import { readContents, readSystem } from './read-contents.ts';

/** `model` and `stream` are in the path; some clients repeat them in the body. */
const bodyFields = new Set([
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'serviceTier',
  'model',
  'stream',
  'generateContentRequest',
]);

const configFields = new Set([
  ...['maxOutputTokens', 'temperature', 'topP', 'topK', 'stopSequences', 'seed', 'presencePenalty', 'frequencyPenalty', 'candidateCount'],
  ...[
    'responseLogprobs',
    'logprobs',
    'responseMimeType',
    'responseSchema',
    'responseJsonSchema',
    '_responseJsonSchema',
    'thinkingConfig',
    'responseModalities',
  ],
]);

export function readRequest(body: unknown, context: ReadRequestContext): ReadRequest {
  if (!asObject(body)) throw invalid('body', 'must be a JSON object');
  const losses = new Losses();
  const request = context.operation === 'count-tokens' ? (objectField(body, 'generateContentRequest') ?? body) : body;
  requireObjects(request, ['generationConfig', 'toolConfig'], '');
  requireObjects(field(request, 'toolConfig'), ['functionCallingConfig'], 'toolConfig');
  requireList(request, 'tools', '');
  const config = objectField(request, 'generationConfig') ?? {};
  requireObjects(config, ['thinkingConfig'], 'generationConfig');
  requireTexts(config, ['responseMimeType'], 'generationConfig');
  losses.unread('', request, bodyFields, camelName);
  losses.unread('generationConfig', config, configFields, camelName);
  const output = readOutput(config, losses);
  const reasoning = readReasoning(config, losses);
  const toolChoice = readToolChoice(request, losses);
  const named = textField(request, 'serviceTier')?.toLowerCase();
  const serviceTier = named === 'unspecified' ? undefined : named;
  readModalities(config, losses);
  const conversation: Conversation = {
    system: readSystem(field(request, 'systemInstruction'), losses),
    turns: readContents(field(request, 'contents'), losses),
    tools: readTools(request, losses),
    ...(toolChoice && { toolChoice }),
    ...(output && { output }),
    sampling: readSampling(config),
    ...(reasoning && { reasoning }),
    ...(serviceTier !== undefined && { serviceTier: serviceTier === 'standard' ? 'default' : serviceTier }),
    stream: context.streamForm !== 'whole',
  };
  const answersEnum = asksForEnum(config) && output !== undefined;
  const grounds = conversation.tools.some(isHosted);
  const echo: Echo = { ...(answersEnum && { answersEnum }), ...(grounds && { grounds }) };
  return { conversation, losses: losses.list, ...((answersEnum || grounds) && { echo }) };
}

const asksForEnum = (config: unknown): boolean => textField(config, 'responseMimeType')?.toLowerCase() === 'text/x.enum';

function readSampling(config: unknown): Sampling {
  const number = (name: string): number | undefined => numberField(config, name, 'generationConfig');
  const maxTokens = number('maxOutputTokens');
  if (maxTokens !== undefined && maxTokens < 0) throw invalid('generationConfig.maxOutputTokens', 'must be a number, 0 or more');
  const stop = field(config, 'stopSequences');
  const stops = typeof stop === 'string' ? [stop] : asArray(stop);
  if (stop !== undefined && !stops?.every((text) => typeof text === 'string')) throw invalid('generationConfig.stopSequences', 'must be an array of strings');
  const numbers: readonly (readonly [keyof Sampling, number | undefined])[] = [
    ['maxTokens', maxTokens],
    ['temperature', number('temperature')],
    ['topP', number('topP')],
    ['topK', number('topK')],
    ['seed', number('seed')],
    ['presencePenalty', number('presencePenalty')],
    ['frequencyPenalty', number('frequencyPenalty')],
    ['choices', number('candidateCount')],
    ['topLogprobs', number('logprobs')],
  ];
  return {
    ...Object.fromEntries(numbers.filter(([, value]) => value !== undefined)),
    ...(stops && stops.length > 0 && { stop: stops as string[] }),
    ...(asBoolean(field(config, 'responseLogprobs')) && { logprobs: true }),
  };
}

/** Most vendors hold a model to objects alone. */
const enumSchema = (schema: unknown): JsonObject => ({
  type: 'object',
  properties: { [enumAnswer]: { ...asObject(schema), type: 'string' } },
  required: [enumAnswer],
  additionalProperties: false,
});

function readOutput(config: unknown, losses: Losses): OutputFormat | undefined {
  const jsonSchema = field(config, 'responseJsonSchema') ?? field(config, '_responseJsonSchema');
  const schema = jsonSchema ?? readSchema(field(config, 'responseSchema'), 'generationConfig.responseSchema');
  const mimeType = textField(config, 'responseMimeType')?.toLowerCase();
  const choices = mimeType === 'text/x.enum' ? asArray(own(schema, 'enum')) : undefined;
  if (choices) {
    losses.add('generationConfig.responseMimeType', 'emulated', 'One of several words is asked for as JSON, and taken out of it.');
    return { type: 'schema', schema: enumSchema(schema) };
  }
  if (mimeType !== undefined && !['', 'text/plain', 'application/json'].includes(mimeType)) {
    losses.add('generationConfig.responseMimeType', 'dropped', 'Only text and JSON answers can be asked for.');
    return undefined;
  }
  if (schema !== undefined) return { type: 'schema', schema };
  return mimeType === 'application/json' ? { type: 'json' } : undefined;
}

const efforts: Readonly<Record<string, NonNullable<Reasoning['effort']>>> = {
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
};

const thinkingFields = new Set(['thinkingBudget', 'thinkingLevel', 'includeThoughts']);
const unspecifiedLevel = 'thinking_level_unspecified';

/** Budget 0 switches thinking off, -1 leaves it to the model. Asking for thoughts asks for thinking. */
function readReasoning(config: unknown, losses: Losses): Reasoning | undefined {
  const thinking = objectField(config, 'thinkingConfig');
  if (!thinking) return undefined;
  losses.unread('generationConfig.thinkingConfig', thinking, thinkingFields, camelName);
  const budget = numberField(thinking, 'thinkingBudget', 'generationConfig.thinkingConfig');
  const level = textField(thinking, 'thinkingLevel')?.toLowerCase() ?? unspecifiedLevel;
  const effort = Object.hasOwn(efforts, level) ? efforts[level] : undefined;
  if (effort === undefined && level !== unspecifiedLevel) losses.add('generationConfig.thinkingConfig.thinkingLevel', 'dropped', 'Not a known level.');
  const include = asBoolean(field(thinking, 'includeThoughts'));
  const enabled = budget === 0 ? false : budget !== undefined || effort !== undefined || include === true ? true : undefined;
  return {
    ...(enabled !== undefined && { enabled }),
    ...(effort !== undefined && { effort }),
    ...(budget !== undefined && { budget }),
    ...(include !== undefined && { summary: include ? ('auto' as const) : ('none' as const) }),
  };
}

function readModalities(config: unknown, losses: Losses): void {
  const modalities = asArray(field(config, 'responseModalities')) ?? [];
  const onlyText = modalities.every((word) => typeof word === 'string' && word.toUpperCase() === 'TEXT');
  if (!onlyText) losses.add('generationConfig.responseModalities', 'dropped', 'Only text can be generated in a translation.');
}
