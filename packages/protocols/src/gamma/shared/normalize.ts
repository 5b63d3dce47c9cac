/** What a model would refuse of a generate-content request, changed to what it takes. */
import type { Edit } from '@model-gateway/json-bytes';
import type { Target, UpstreamAdapter } from '../../contract/index.ts';
import { familyOf } from '../../kit/family.ts';
import { limitTokens } from '../../kit/limit-tokens.ts';
import { Losses } from '../../kit/losses.ts';
import { own } from '../../kit/read.ts';
import { geminiFamily } from './families.ts';
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
  return { edits: [...edits, ...thinkingEdits(config, key, context.target, losses)], losses: losses.list };
};

/** The budget that a level stands for; the vendor's own compatible endpoint uses the same. */
const levelTokens: Readonly<Record<string, number | undefined>> = Object.assign(Object.create(null) as Record<string, number>, {
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
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
  if (level !== undefined && (family.thinking === 'budget' || budget === undefined)) {
    if (family.thinking !== 'budget') return [];
    losses.add('generationConfig.thinkingConfig.thinkingLevel', 'downgraded', 'This model takes a budget in tokens.');
    const tokens = levelTokens[String(own(thinking, level)).toLowerCase()];
    const add = budget === undefined && tokens !== undefined;
    return [{ path: [key, name, level], value: undefined }, ...(add ? [{ path: [key, name, 'thinkingBudget'], value: tokens, add: true }] : [])];
  }
  if (level === undefined || budget === undefined) return [];
  losses.add('generationConfig.thinkingConfig.thinkingBudget', 'dropped', 'This model takes a level or a budget, not both.');
  return [{ path: [key, name, budget], value: undefined }];
}
