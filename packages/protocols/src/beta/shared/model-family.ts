/**
 * What this protocol's writers need to know of a model, derived from its family. Requests must contain `max_tokens` and are refused for a parameter
 * that the model's generation does not know. Models of other vendors (compatible servers) get the oldest forms.
 */
import type { ModelFamily as KnownFamily } from '@model-gateway/model-catalog';
import type { Target } from '../../contract/index.ts';
import { familyOf } from '../../kit/family.ts';

/** Rules for messages requests of one model family. */
export interface ModelFamily {
  /** `max_tokens` when the caller of another protocol names none, where that means "as much as it takes". Too large is a 400, too small cuts replies. */
  defaultMaxTokens: number;
  /** Largest budget. */
  maxThinking: number;
  /** How thinking is asked for. `adaptive`: by effort alone, and no sampling parameters at all on `fixedSampling` models. */
  thinking: 'adaptive' | 'budget' | 'none';
  fixedSampling: boolean;
  maxTemperature: number;
  /** Whether `temperature` and `top_p` may stand together. */
  bothSamplings: boolean;
  /** `output_config.format`; otherwise the schema is asked for by other means. */
  structuredOutput: boolean;
  /** `role: system` between other turns. */
  systemTurns: boolean;
  /** The efforts `output_config.effort` takes. */
  efforts: readonly string[];
}

/** The vendor's own models: what is known of them is what its endpoint enforces. */
export const isOwnModel = (family: KnownFamily): boolean => family.vendor === 'anthropic';

/** Whether the tools that the vendor runs are left to this upstream: compatible servers for models of others have none. */
export function runsVendorTools(target: Target): boolean {
  const family = familyOf(target);
  return family.vendor === null || isOwnModel(family);
}

/** The first one or two short numbers of an id: `claude-opus-4-6`, `claude-3-5-haiku-20241022`. */
const version = /claude-(?:[a-z]{1,20}-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/i;

export function modelFamily(target: Target): ModelFamily {
  const family = familyOf(target);
  const own = isOwnModel(family);
  const { style, efforts, max } = family.thinking;
  return {
    defaultMaxTokens: family.defaultOutput,
    maxThinking: max,
    thinking: style === 'none' ? 'none' : own && style === 'adaptive' ? 'adaptive' : 'budget',
    fixedSampling: own && family.sampling.fixed,
    maxTemperature: family.sampling.maxTemperature === 1 || !own ? 1 : 2,
    bothSamplings: family.sampling.both,
    structuredOutput: family.structuredOutput === 'native',
    systemTurns: own && family.systemTurns,
    efforts: own ? efforts : [],
  };
}

/** Major × 100 + minor of one of the vendor's own models, by its id; 0 where the id does not say. */
export function generationOf(id: string): number {
  const found = version.exec(id.slice(-256));
  return found ? Number(found[1]) * 100 + Number(found[2] ?? 0) : 0;
}
