/** A canonical request as the body that a gamma upstream takes. */
import type { Conversation, OutputFormat, Reasoning, Sampling } from '../../chat/conversation.ts';
import type { ReplyEmulation, WriteRequestContext, WrittenRequest } from '../../contract/index.ts';
import { fillPrompt } from '../../kit/empty-prompt.ts';
import { loseForcedChoice } from '../../kit/forced-choice.ts';
import { Losses } from '../../kit/losses.ts';
import type { JsonObject } from '../../kit/read.ts';
import { modelName } from '../shared/endpoint.ts';
import { type Family, geminiFamily, levelOfBudget, levelTaken, type ThinkingLevel } from '../shared/families.ts';
import { writeSchema } from '../shared/schema.ts';
import { tierAsked, usualTiers } from '../shared/service-tiers.ts';
import { writeToolChoice, writeTools } from '../shared/tools.ts';
import { writeContents } from './write-contents.ts';

export function writeRequest(conversation: Conversation, context: WriteRequestContext): WrittenRequest {
  const losses = new Losses();
  const modelId = context.target.upstreamModelId;
  const relaxedToolSchemas = new Map<string, unknown>();
  const tools = writeTools(conversation.tools, losses, relaxedToolSchemas);
  const hasFunctions = tools.some((tool) => 'functionDeclarations' in tool);
  const toolConfig = hasFunctions ? writeToolChoice(conversation.toolChoice) : undefined;
  if (!hasFunctions) loseForcedChoice(conversation.toolChoice, losses);
  const family = geminiFamily(context.target);
  const emulated = hasFunctions && !family.formatBesideTools ? formatInWords(conversation.output, losses) : undefined;
  const config = writeConfig(emulated ? { ...conversation, output: { type: 'text' } } : conversation, family, losses);
  let contents = writeContents(conversation, context, losses);
  let system = conversation.system.filter((part) => part.text !== '').map((part) => ({ text: part.text }));
  if (emulated) system.push({ text: emulated.words });
  if (contents.length === 0 && system.length > 0) {
    losses.add('system', 'renamed', 'A request that holds nothing but a system text sent it as the user.');
    contents = [{ role: 'user', parts: system }];
    system = [];
  }
  if (contents.length === 0) contents = [{ role: 'user', parts: [{ text: fillPrompt(losses) }] }];
  const tier = tierAsked(conversation.serviceTier, context.target.baseUrl);
  declareLosses(conversation, tier, losses);
  const request: JsonObject = {
    contents,
    ...(system.length > 0 && { systemInstruction: { parts: system } }),
    ...(tools.length > 0 && { tools }),
    ...(toolConfig && { toolConfig }),
    ...(Object.keys(config).length > 0 && { generationConfig: config }),
    ...(context.operation === 'generate' && tier !== undefined && { serviceTier: tier }),
  };
  // The counter reads system text and tools only inside the nested request, which must name the model again.
  const body = context.operation === 'count-tokens' ? { generateContentRequest: { model: modelName(modelId), ...request } } : request;
  // A schema that had to be widened no longer holds the model to the caller's: what it answers is judged by the original.
  const { output } = conversation;
  const relaxed = output?.type === 'schema' && losses.list.some((loss) => loss.field.startsWith('response_format.schema'));
  const emulation = emulated?.emulation ?? (relaxed ? { schema: output.schema } : undefined);
  return { body, losses: losses.list, ...(emulation && { emulation }), ...(relaxedToolSchemas.size > 0 && { relaxedToolSchemas }) };
}

/** A JSON answer asked for in words, for models that refuse an output format beside functions; undefined: none was asked for. */
function formatInWords(output: OutputFormat | undefined, losses: Losses): { words: string; emulation: ReplyEmulation } | undefined {
  if (!output || output.type === 'text') return undefined;
  losses.add('response_format', 'emulated', 'This model takes no output format beside functions: it was asked for in words.');
  const asked = 'When you give your answer, and are not calling a function, give one JSON object and nothing else';
  if (output.type === 'json') return { words: `${asked}.`, emulation: {} };
  return { words: `${asked}. It fits this JSON schema:\n${JSON.stringify(output.schema)}`, emulation: { schema: output.schema } };
}

function declareLosses(conversation: Conversation, tier: string | undefined, losses: Losses): void {
  const absent: readonly (readonly [string, boolean])[] = [
    ['parallel_tool_calls', conversation.parallelToolCalls === false],
    ['user', conversation.user !== undefined],
    ['safety_identifier', conversation.safetyIdentifier !== undefined],
    ['metadata', conversation.metadata !== undefined],
    ['verbosity', conversation.verbosity !== undefined],
    ['service_tier', conversation.serviceTier !== undefined && tier === undefined && !usualTiers.has(conversation.serviceTier)],
    ['prompt_cache_key', conversation.promptCacheKey !== undefined],
    ['n', (conversation.sampling.choices ?? 1) > 1],
    ['logit_bias', Object.keys(conversation.sampling.logitBias ?? {}).length > 0],
    ['system.cache_control', conversation.system.some((part) => part.cache)],
  ];
  for (const [name, lost] of absent) if (lost) losses.add(name, 'dropped', 'The field has no counterpart at this upstream.');
}

function writeConfig(conversation: Conversation, family: Family, losses: Losses): JsonObject {
  const thinkingConfig = conversation.reasoning ? writeThinking(conversation.reasoning, family, losses) : undefined;
  return {
    ...writeSampling(conversation.sampling, losses),
    ...writeOutput(conversation.output, losses),
    ...(thinkingConfig && Object.keys(thinkingConfig).length > 0 && { thinkingConfig }),
  };
}

/** The vendor refuses more. */
const maxStops = 5;

function writeSampling(sampling: Sampling, losses: Losses): JsonObject {
  const stop = (sampling.stop ?? []).filter((text) => text !== '');
  if (stop.length > maxStops) losses.add('stop', 'downgraded', `Only the first ${maxStops} stop sequences were sent.`);
  const fields: readonly (readonly [string, unknown])[] = [
    ['maxOutputTokens', sampling.maxTokens],
    ['temperature', sampling.temperature],
    ['topP', sampling.topP],
    ['topK', sampling.topK],
    ['stopSequences', stop.length > 0 ? stop.slice(0, maxStops) : undefined],
    ['seed', sampling.seed],
    ['presencePenalty', sampling.presencePenalty],
    ['frequencyPenalty', sampling.frequencyPenalty],
    ['responseLogprobs', sampling.logprobs],
    ['logprobs', sampling.logprobs ? sampling.topLogprobs : undefined],
  ];
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

function writeOutput(output: OutputFormat | undefined, losses: Losses): JsonObject {
  if (!output || output.type === 'text') return {};
  if (output.type === 'json') return { responseMimeType: 'application/json' };
  const { dialect, schema } = writeSchema(output.schema, losses, 'response_format.schema');
  return { responseMimeType: 'application/json', [dialect === 'open-api' ? 'responseSchema' : 'responseJsonSchema']: schema };
}

// ---- thinking ------------------------------------------------------------------------------------------------------

type Effort = NonNullable<Reasoning['effort']>;

/** What the vendor's own compatible endpoint makes of the efforts; above `high` there is only more room. */
const effortTokens: Readonly<Record<Effort, number>> = { none: 0, minimal: 1024, low: 1024, medium: 8192, high: 24_576, xhigh: 32_768, max: 32_768 };
const effortLevels: Readonly<Record<Effort, ThinkingLevel>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'XHIGH',
  max: 'XHIGH',
};

function writeThinking(reasoning: Reasoning, family: Family, losses: Losses): JsonObject | undefined {
  const off = reasoning.enabled === false || reasoning.effort === 'none' || reasoning.budget === 0;
  if (family.thinking === null) {
    if (!off) losses.add('reasoning', 'dropped', 'This model does not think.');
    return undefined;
  }
  const amount = family.thinking === 'budget' ? budgetOf(reasoning, off, family, losses) : levelOf(reasoning, off, family, losses);
  return { ...amount, ...(!off && reasoning.summary !== 'none' && { includeThoughts: true }) };
}

function budgetOf(reasoning: Reasoning, off: boolean, family: Family, losses: Losses): JsonObject {
  const asked = off ? 0 : (reasoning.budget ?? (reasoning.effort === undefined ? undefined : effortTokens[reasoning.effort]));
  if (asked === undefined) return reasoning.enabled || reasoning.adaptive ? { thinkingBudget: -1 } : {};
  if (asked === -1) return { thinkingBudget: -1 };
  const min = family.minTokens;
  const budget = asked === 0 && family.optional ? 0 : Math.min(family.maxTokens, Math.max(min, asked));
  // An effort is a word, not a number: only a figure that the caller gave can be missed.
  if (off ? budget > 0 : reasoning.budget !== undefined && budget !== asked)
    losses.add('reasoning.budget', 'downgraded', `The thinking budget became ${budget}, this model's bound.`);
  return { thinkingBudget: budget };
}

function levelOf(reasoning: Reasoning, off: boolean, family: Family, losses: Losses): JsonObject {
  const { effort, budget = -1 } = reasoning;
  const wanted = off ? 'MINIMAL' : effort !== undefined ? effortLevels[effort] : budget < 0 ? undefined : levelOfBudget(budget);
  if (wanted === undefined) return {};
  if (off) losses.add('reasoning', 'downgraded', 'Thinking cannot be switched off on this model: the lowest level was asked for.');
  else if (effort === undefined) losses.add('reasoning.budget', 'downgraded', 'A thinking budget became the nearest level.');
  return { thinkingLevel: levelTaken(wanted, family) };
}
