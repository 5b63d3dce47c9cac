/**
 * What a model of this vendor's would refuse of a request in its own protocol, changed to what it takes. Agents are written against one generation
 * and pointed at another; a compatible server's models are left alone but for their known limits.
 */
import type { Edit } from '@model-gateway/json-bytes';
import type { ModelFamily } from '@model-gateway/model-catalog';
import type { UpstreamAdapter } from '../../contract/index.ts';
import { familyOf } from '../../kit/family.ts';
import { limitTokens } from '../../kit/limit-tokens.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asNumber, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { samplingRefusal } from './api-version.ts';
import { minBudget, nearestEffort } from './effort.ts';
import { isOwnModel } from './model-family.ts';
import { mayThinkOn } from './write-reasoning.ts';

/** Top-level fields that are looked at on every request; the edge notes where they stand. */
export const normalizedKeys = ['max_tokens', 'temperature', 'top_p', 'top_k', 'thinking', 'output_config'] as const;

type Field = (key: string) => unknown;

export const normalize: NonNullable<UpstreamAdapter['normalize']> = (field, context) => {
  const losses = new Losses();
  const family = familyOf(context.target);
  const refusal = samplingRefusal(context.target, context.clientHeaders);
  // A counter takes no limits, and counts whatever it is given of the rest.
  if (context.operation !== 'generate') return { edits: refusal === undefined ? [] : dropSampling(field, refusal, losses), losses: losses.list };
  // 0 asks the vendor's own models for a warm cache and no reply: one token would be another call, and less thinking another cache.
  const warms = field('max_tokens') === 0 && isOwnModel(family);
  const edits = warms ? [] : limitTokens(['max_tokens'], field('max_tokens'), family, losses);
  if (refusal !== undefined) edits.push(...dropSampling(field, refusal, losses));
  if (!isOwnModel(family)) return { edits, losses: losses.list };
  const maxTokens = asNumber(edits[0]?.value ?? (warms ? undefined : field('max_tokens'))) ?? family.defaultOutput;
  const thinking = thinkingEdit(field, family, maxTokens, losses);
  if (thinking) edits.push(thinking);
  const thinks = isThinking(thinking ? thinking.value : field('thinking'));
  edits.push(...effortEdits(field('output_config'), family, losses));
  if (refusal === undefined) edits.push(...samplingEdits(field, family, thinks, losses));
  return { edits, losses: losses.list };
};

const isThinking = (value: unknown): boolean => own(value, 'type') === 'enabled' || own(value, 'type') === 'adaptive';

/** The form of thinking that the generation takes, within its bounds. */
function thinkingEdit(field: Field, family: ModelFamily, maxTokens: number, losses: Losses): Edit | null {
  const thinking = asObject(field('thinking'));
  if (!thinking || !isThinking(thinking)) return null;
  const { style } = family.thinking;
  const remove: Edit = { path: ['thinking'], value: undefined };
  if (style === 'none') {
    losses.dropped('thinking', 'this model does not think');
    return remove;
  }
  const adaptive = own(thinking, 'type') === 'adaptive';
  if (style === 'adaptive') {
    if (adaptive || !family.sampling.fixed) return adaptive ? null : budgetEdit(thinking, maxTokens, family, losses);
    losses.add('thinking.budget_tokens', 'downgraded', 'this model decides for itself how much it thinks');
    return { path: ['thinking'], value: { ...displayOf(thinking), type: 'adaptive' } };
  }
  if (!adaptive) return budgetEdit(thinking, maxTokens, family, losses);
  if (maxTokens <= minBudget || !mayThinkOn((asArray(field('messages')) ?? []) as JsonObject[])) {
    losses.dropped('thinking', 'this model takes a budget, and there is no room or no replayable thinking for one');
    return remove;
  }
  losses.add('thinking.type', 'downgraded', 'this model takes a budget in tokens');
  const budget = Math.max(minBudget, Math.min(family.thinking.max, Math.floor(maxTokens * 0.8)));
  return { path: ['thinking'], value: { type: 'enabled', budget_tokens: budget } };
}

const displayOf = (thinking: JsonObject): JsonObject => (own(thinking, 'display') === undefined ? {} : { display: own(thinking, 'display') });

/** `1024 <= budget_tokens < max_tokens`, or no thinking at all. */
function budgetEdit(thinking: JsonObject, maxTokens: number, family: ModelFamily, losses: Losses): Edit | null {
  const budget = asNumber(own(thinking, 'budget_tokens'));
  if (budget === undefined) return null;
  if (maxTokens <= minBudget) {
    losses.dropped('thinking', 'max_tokens leaves no room for a thinking budget');
    return { path: ['thinking'], value: undefined };
  }
  const limited = Math.max(minBudget, Math.min(budget, maxTokens - 1, family.thinking.max));
  if (limited === budget) return null;
  losses.add('thinking.budget_tokens', 'downgraded', `became ${limited}, this call's bound`);
  return { path: ['thinking'], value: { ...thinking, budget_tokens: limited } };
}

function effortEdits(config: unknown, family: ModelFamily, losses: Losses): Edit[] {
  const effort = asString(own(config, 'effort'));
  const { efforts } = family.thinking;
  if (effort === undefined || (efforts as readonly string[]).includes(effort)) return [];
  const nearest = efforts.length === 0 ? undefined : nearestEffort(effort as 'low', efforts);
  losses.add(
    'output_config.effort',
    nearest === undefined ? 'dropped' : 'downgraded',
    nearest === undefined ? 'not known to this model' : 'the nearest effort that this model takes',
  );
  const { effort: _effort, ...rest } = asObject(config) ?? {};
  const value = nearest === undefined ? rest : { ...rest, effort: nearest };
  return [{ path: ['output_config'], value: Object.keys(value).length === 0 ? undefined : value }];
}

/** Whatever their values: the defaults are refused as well. */
function dropSampling(field: Field, why: string, losses: Losses): Edit[] {
  return (['temperature', 'top_p', 'top_k'] as const).flatMap((key): Edit[] => {
    if (field(key) === undefined) return [];
    losses.dropped(key, why);
    return [{ path: [key], value: undefined }];
  });
}

function samplingEdits(field: Field, family: ModelFamily, thinks: boolean, losses: Losses): Edit[] {
  const edits: Edit[] = [];
  const drop = (key: string, why: string): void => {
    losses.dropped(key, why);
    edits.push({ path: [key], value: undefined });
  };
  const [temperature, topP, topK] = ['temperature', 'top_p', 'top_k'].map((key) => asNumber(field(key)));
  const { fixed, both, maxTemperature } = family.sampling;
  const why = fixed ? 'this model takes no sampling parameters' : 'thinking excludes it';
  // The default says nothing, and is refused as well by some models that take no sampling parameters: it goes, and nothing is lost.
  const dropDefault = (key: string): void => void edits.push({ path: [key], value: undefined });
  let keepsTemperature = temperature !== undefined;
  if (fixed && temperature === 1) {
    dropDefault('temperature');
    keepsTemperature = false;
  } else if (temperature !== undefined && (fixed || thinks) && temperature !== 1) {
    drop('temperature', why);
    keepsTemperature = false;
  } else if (temperature !== undefined && temperature > maxTemperature) {
    losses.add('temperature', 'downgraded', `limited to ${maxTemperature}`);
    edits.push({ path: ['temperature'], value: maxTemperature });
  }
  const single = fixed || (keepsTemperature && !both);
  if (single && topP === 1) dropDefault('top_p');
  else if (topP !== undefined && (fixed || (thinks && topP < 0.95))) drop('top_p', why);
  else if (topP !== undefined && single) drop('top_p', 'this model takes temperature or top_p, not both');
  if (topK !== undefined && (fixed || thinks)) drop('top_k', why);
  return edits;
}
