/** What a model would refuse of a generate-content request, changed to what it takes. */
import type { Edit } from '@model-gateway/json-bytes';
import type { Target, UpstreamAdapter } from '../../contract/index.ts';
import { familyOf } from '../../kit/family.ts';
import { limitTokens } from '../../kit/limit-tokens.ts';
import { Losses } from '../../kit/losses.ts';
import { own } from '../../kit/read.ts';
import { type Family, geminiFamily, isBelowLevels, levelOfBudget, levelTaken } from './families.ts';
import { spelling } from './fields.ts';

/** Both spellings of the one field that is looked at; the edge notes where they stand. */
export const normalizedKeys = ['generationConfig', 'generation_config'] as const;

export const normalize: NonNullable<UpstreamAdapter['normalize']> = (field, context) => {
  const losses = new Losses();
  const key = normalizedKeys.find((name) => field(name) !== undefined);
  if (key === undefined || context.operation !== 'generate') return { edits: [], losses: losses.list };
  const config = field(key);
  const limit = spelling(config, 'maxOutputTokens');
  const edits: Edit[] = limit === undefined ? [] : limitTokens([key, limit], own(config, limit), familyOf(context.target), losses);
  edits.push(...thinkingEdits(config, key, context.target, losses), ...penaltyEdits(config, key, context.target, losses));
  return { edits, losses: losses.list };
};

/** The budget that a level stands for; the vendor's own compatible endpoint uses the same. */
const levelTokens: Readonly<Record<string, number | undefined>> = Object.assign(Object.create(null) as Record<string, number>, {
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
});

/** A family that does not think refuses the whole setting; the others take a budget or a level, never both, and only the newer know levels. */
function thinkingEdits(config: unknown, key: string, target: Target, losses: Losses): Edit[] {
  const name = spelling(config, 'thinkingConfig');
  if (name === undefined) return [];
  const family = geminiFamily(target);
  if (family.thinking === null) {
    losses.add('generationConfig.thinkingConfig', 'dropped', 'This model does not think.');
    return [{ path: [key, name], value: undefined }];
  }
  const thinking = own(config, name);
  const level = spelling(thinking, 'thinkingLevel');
  const budget = spelling(thinking, 'thinkingBudget');
  const at = [key, name] as const;
  return family.thinking === 'budget'
    ? budgetEdits(thinking, { level, budget, at }, family, losses)
    : levelEdits(thinking, { level, budget, at }, family, losses);
}

/** Where the two settings stand, each under its spelling. */
interface Settings {
  level: string | undefined;
  budget: string | undefined;
  at: readonly string[];
}

function budgetEdits(thinking: unknown, { level, budget, at }: Settings, family: Family, losses: Losses): Edit[] {
  if (level === undefined) return [];
  losses.add('generationConfig.thinkingConfig.thinkingLevel', 'downgraded', 'This model takes a budget in tokens.');
  const tokens = levelTokens[String(own(thinking, level)).toLowerCase()];
  const add = budget === undefined && tokens !== undefined;
  return [
    { path: [...at, level], value: undefined },
    ...(add ? [{ path: [...at, 'thinkingBudget'], value: Math.min(tokens, family.maxTokens), add: true }] : []),
  ];
}

function levelEdits(thinking: unknown, { level, budget, at }: Settings, family: Family, losses: Losses): Edit[] {
  const edits: Edit[] = [];
  if (level !== undefined) {
    if (budget !== undefined) {
      losses.add('generationConfig.thinkingConfig.thinkingBudget', 'dropped', 'This model takes a level or a budget, not both.');
      edits.push({ path: [...at, budget], value: undefined });
    }
    if (isBelowLevels(String(own(thinking, level)), family)) {
      losses.add('generationConfig.thinkingConfig.thinkingLevel', 'downgraded', 'The lowest level of thinking that this model takes was asked for.');
      edits.push({ path: [...at, level], value: levelTaken('MINIMAL', family) });
    }
  } else if (budget !== undefined && !family.budgetForLevel) {
    edits.push({ path: [...at, budget], value: undefined });
    const tokens = Number(own(thinking, budget) ?? -1);
    // Less than nothing leaves it to the model, as no level does.
    if (tokens >= 0) {
      const detail =
        tokens === 0 ? 'Thinking cannot be switched off on this model: the lowest level was asked for.' : 'A thinking budget became the nearest level.';
      losses.add('generationConfig.thinkingConfig.thinkingBudget', 'downgraded', detail);
      edits.push({ path: [...at, 'thinkingLevel'], value: levelTaken(tokens === 0 ? 'MINIMAL' : levelOfBudget(tokens), family), add: true });
    }
  }
  return edits;
}

function penaltyEdits(config: unknown, key: string, target: Target, losses: Losses): Edit[] {
  if (geminiFamily(target).penalties) return [];
  return ['presencePenalty', 'frequencyPenalty'].flatMap((name) => {
    const given = spelling(config, name);
    if (given === undefined) return [];
    if (own(config, given)) losses.add(`generationConfig.${name}`, 'dropped', 'This model takes no penalties.');
    return [{ path: [key, given], value: undefined }];
  });
}
