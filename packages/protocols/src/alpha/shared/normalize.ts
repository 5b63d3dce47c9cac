/** What a model would refuse of a chat completion, changed to what it takes. Only families whose refusals are known are touched. */
import type { Edit } from '@model-gateway/json-bytes';
import type { UpstreamAdapter } from '../../contract/index.ts';
import { familyOf } from '../../kit/family.ts';
import { limitTokens } from '../../kit/limit-tokens.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asNumber, asString, own } from '../../kit/read.ts';
import { type ChatFamily, chatFamily } from './families.ts';
import { forcedChoiceEdits } from './forced-choice.ts';
import { canStopThinking, nearestEffort, strongest } from './reasoning.ts';

/** Fields that a family may refuse unless they have their default, with that default. */
const tuned: readonly (readonly [string, unknown])[] = [
  ['temperature', 1],
  ['top_p', 1],
  ['presence_penalty', 0],
  ['frequency_penalty', 0],
  ['logprobs', false],
  ['top_logprobs', 0],
  ['logit_bias', undefined],
];

/** What a model with sampling of its own refuses whatever the value (`ownSampling`). */
export const sampledFields = ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty'] as const;

/** Top-level fields that are looked at on every request; the edge notes where they stand. */
export const normalizedKeys = ['max_tokens', 'max_completion_tokens', 'reasoning_effort', 'stop', 'seed', 'tool_choice', ...tuned.map(([key]) => key)];

type Field = (key: string) => unknown;

export const normalize: NonNullable<UpstreamAdapter['normalize']> = (field, context) => {
  const losses = new Losses();
  // Models of the older endpoint are not those whose refusals are known.
  if (context.operation !== 'generate') return { edits: [], losses: losses.list };
  const family = chatFamily(context.target);
  const edits: Edit[] = [...limitEdits(field, context.target, family, losses)];
  if (!family.firstParty && family.onlyFields) edits.push(...effortEdits(field, family, losses), ...seedEdits(field, family, losses));
  if (!family.firstParty && !family.onlyFields) edits.push(...thinkingEdits(field, family, losses));
  if (!family.firstParty && !family.ownSampling) edits.push(...temperatureEdits(field, family, losses));
  if (!family.firstParty) edits.push(...stopEdits(field, family, losses));
  edits.push(...(family.ownSampling ? ownSamplingEdits(field, losses) : penaltyEdits(field, family, losses)));
  edits.push(...choiceEdits(field, family, losses), ...forcedChoiceEdits(field, family, losses));
  if (family.firstParty) edits.push(...effortEdits(field, family, losses), ...samplingEdits(field, family, losses), ...stopEdits(field, family, losses));
  return { edits, losses: losses.list };
};

/** The limit under the name that the model knows, between its bounds. */
function limitEdits(field: Field, target: Parameters<typeof familyOf>[0], family: ChatFamily, losses: Losses): Edit[] {
  const plain = asNumber(field('max_tokens'));
  const newer = asNumber(field('max_completion_tokens'));
  if (plain === undefined && newer === undefined) return [];
  if (plain !== undefined && family.maxTokensField === 'max_completion_tokens') {
    losses.add('max_tokens', 'renamed', 'This model takes it as max_completion_tokens.');
    const [limited] = limitTokens(['max_completion_tokens'], newer ?? plain, familyOf(target), losses);
    return [
      { path: ['max_tokens'], value: undefined },
      { path: ['max_completion_tokens'], value: limited?.value ?? newer ?? plain, add: true },
    ];
  }
  const bounds = familyOf(target);
  if (newer !== undefined && family.onlyFields && family.maxTokensField === 'max_tokens') {
    losses.add('max_completion_tokens', 'renamed', 'This model takes it as max_tokens.');
    const [limited] = limitTokens(['max_tokens'], newer, bounds, losses);
    return [
      { path: ['max_completion_tokens'], value: undefined },
      { path: ['max_tokens'], value: limited?.value ?? newer, add: true },
    ];
  }
  return [...limitTokens(['max_tokens'], plain, bounds, losses), ...limitTokens(['max_completion_tokens'], newer, bounds, losses)];
}

function temperatureEdits(field: Field, { maxTemperature }: ChatFamily, losses: Losses): Edit[] {
  const asked = asNumber(field('temperature'));
  if (asked === undefined || asked <= maxTemperature) return [];
  losses.add('temperature', 'downgraded', `Limited to ${maxTemperature}, the most that this model takes.`);
  return [{ path: ['temperature'], value: maxTemperature }];
}

function penaltyEdits(field: Field, { penalties }: ChatFamily, losses: Losses): Edit[] {
  if (penalties) return [];
  return ['presence_penalty', 'frequency_penalty'].flatMap((key) => {
    if (field(key) === undefined || field(key) === null) return [];
    losses.add(key, 'dropped', 'This model takes no penalties.');
    return [{ path: [key], value: undefined }];
  });
}

function ownSamplingEdits(field: Field, losses: Losses): Edit[] {
  return sampledFields.flatMap((key) => {
    const value = field(key);
    if (value === undefined || value === null) return [];
    const [, usual] = tuned.find(([name]) => name === key) ?? [];
    if (value !== usual) losses.add(key, 'dropped', 'This model refuses any value but its own.');
    return [{ path: [key], value: undefined }];
  });
}

/** How much to think, and whether at all, as this model takes it. */
function thinkingEdits(field: Field, family: ChatFamily, losses: Losses): Edit[] {
  const switches = family.reasoning === 'thinking-type';
  const effort = field('reasoning_effort');
  if (switches && effort === 'none' && canStopThinking(family))
    return [
      { path: ['reasoning_effort'], value: undefined },
      { path: ['thinking'], value: { type: 'disabled' }, add: true },
    ];
  const knowsEfforts = family.reasoning === 'none' || ((switches || family.reasoning === 'effort') && family.efforts.length > 1);
  const edits = knowsEfforts ? effortEdits(field, family, losses) : [];
  const asksOff = family.reasoning !== 'none' && !canStopThinking(family) && own(field('thinking'), 'type') === 'disabled';
  if (!asksOff) return edits;
  losses.add('reasoning.enabled', 'downgraded', 'This model always reasons; the least effort was asked for.');
  const [lowest] = family.efforts;
  const lower: Edit[] = lowest === undefined || effort !== undefined ? [] : [{ path: ['reasoning_effort'], value: lowest, add: true }];
  return [...edits, { path: ['thinking'], value: undefined }, ...lower];
}

/** "Some tool" is only sayable to these models when there is but one. */
function choiceEdits(field: Field, { requiredChoice, namedChoice }: ChatFamily, losses: Losses): Edit[] {
  if (!namedChoice) return namedEdits(field, losses);
  if (requiredChoice || field('tool_choice') !== 'required') return [];
  const tools = asArray(field('tools')) ?? [];
  const name = tools.length === 1 ? asString(own(own(tools[0], 'function'), 'name')) : undefined;
  if (name === undefined) losses.add('tool_choice', 'downgraded', 'That some tool must be called cannot be said to this model.');
  return [{ path: ['tool_choice'], value: name === undefined ? 'auto' : { type: 'function', function: { name } } }];
}

/** A certain tool can be forced by offering no other. */
function namedEdits(field: Field, losses: Losses): Edit[] {
  const name = asString(own(own(field('tool_choice'), 'function'), 'name'));
  const tools = asArray(field('tools')) ?? [];
  const only = name === undefined ? [] : tools.filter((tool) => own(own(tool, 'function'), 'name') === name);
  if (only.length !== 1) return [];
  if (tools.length > 1) losses.add('tool_choice.allowed', 'emulated', 'The tools that may not be called were left out.');
  return [{ path: ['tool_choice'], value: 'required' }, ...(tools.length > 1 ? [{ path: ['tools'], value: only }] : [])];
}

function seedEdits(field: Field, { seedField }: ChatFamily, losses: Losses): Edit[] {
  const seed = asNumber(field('seed'));
  if (seed === undefined || seedField === 'seed') return [];
  losses.add('seed', 'renamed', `This model takes it as ${seedField}.`);
  return [
    { path: ['seed'], value: undefined },
    { path: [seedField], value: seed, add: true },
  ];
}

function effortEdits(field: Field, family: ChatFamily, losses: Losses): Edit[] {
  const effort = asString(field('reasoning_effort'));
  if (effort === undefined) return [];
  const path = ['reasoning_effort'];
  if (family.reasoning === 'none') {
    losses.add('reasoning_effort', 'dropped', 'This model does not reason.');
    return [{ path, value: undefined }];
  }
  const taken = nearest(effort, family);
  if (taken === effort) return [];
  losses.add('reasoning_effort', 'downgraded', 'The nearest effort that this model takes.');
  return [{ path, value: taken }];
}

function nearest(effort: string, family: ChatFamily): string {
  if (family.efforts.length === 1 && effort !== 'none') return family.efforts[0] ?? effort;
  if (effort === 'none') return family.noEffort ?? 'low';
  const nearer = family.firstParty ? undefined : nearestEffort(effort, family.efforts);
  if (nearer !== undefined) return nearer;
  if (effort === 'max' || effort === 'xhigh') return strongest(effort, family);
  return effort === 'minimal' && family.noEffort !== 'minimal' ? 'low' : effort;
}

function stopEdits(field: Field, { maxStops }: ChatFamily, losses: Losses): Edit[] {
  const stop = field('stop');
  const count = asArray(stop)?.length ?? (asString(stop) === undefined ? 0 : 1);
  if (count <= maxStops) return [];
  if (maxStops === 0) losses.add('stop', 'dropped', 'This model takes no stop sequences.');
  else losses.add('stop', 'downgraded', `Only the first ${maxStops} stop sequences were sent.`);
  return [{ path: ['stop'], value: maxStops === 0 ? undefined : asArray(stop)?.slice(0, maxStops) }];
}

function samplingEdits(field: Field, family: ChatFamily, losses: Losses): Edit[] {
  // Without reasoning the same model samples as others do, where it can be turned off.
  const effort = field('reasoning_effort') ?? (family.reasonsOnlyAsked ? 'none' : undefined);
  if (!family.fixedSampling || (family.noEffort === 'none' && effort === 'none')) return [];
  return tuned.flatMap(([key, usual]) => {
    const value = field(key);
    if (value === undefined || value === usual) return [];
    losses.add(key, 'dropped', 'This model refuses any value but its own.');
    return [{ path: [key], value: undefined }];
  });
}
