/** What differs in a chat completion by model, derived from the table of model families. */
import { type ChatRules, findFamily, type ModelFamily } from '@model-gateway/model-catalog';
import type { Target } from '../../contract/index.ts';
import { familyOf } from '../../kit/family.ts';

/** The words for an effort of reasoning, and the largest budget. */
export interface EffortWords {
  /** Most tokens of a thinking budget. */
  maxBudget: number;
  /** The words that are taken beside off, weakest first; [] where any is. */
  efforts: readonly string[];
  /** Effort words above `high`, and what "no reasoning" is called (null: it cannot be turned off). */
  highestEffort: 'high' | 'xhigh' | 'max';
  noEffort: 'none' | 'minimal' | null;
}

/** What is taken of the sampling parameters. */
export interface ChatSampling {
  /** Refuses temperature, top_p and penalties that are not the default. */
  fixedSampling: boolean;
  /** Does not reason unless asked to: what it refuses of sampling while it reasons is taken then. */
  reasonsOnlyAsked: boolean;
  maxTemperature: number;
  maxStops: number;
}

/** Rules for chat completions of one model family; the values that the writers of this protocol use. */
export interface ChatFamily extends Omit<ChatRules, 'limitField' | 'maxStops'>, EffortWords, ChatSampling {
  /** The name of the token limit. */
  maxTokensField: ChatRules['limitField'];
  replaysReasoning: ModelFamily['replaysReasoning'];
  /** The mark of a last message that the model is to continue, where it takes one. */
  begunReply: 'prefix' | 'partial' | null;
  /** Refuses a tool call in the history without its signature. */
  needsCallSignature: boolean;
  /** Takes `prompt_cache_breakpoint` on parts. */
  cacheBreakpoints: boolean;
  /** Ids of calls are nine letters or digits, and nothing else is taken. */
  nineCharacterIds: boolean;
}

/** What to mind for this target's model; what every compatible endpoint takes when nothing is known of it. */
export function chatFamily(target: Target): ChatFamily {
  const { own, elsewhere } = rulesOf(familyOf(target));
  return own.ownHosts === null || own.ownHosts.test(target.baseUrl) ? own : elsewhere;
}

/** The same for a reader or a writer that stands in for another model than the target's. */
export const chatFamilyOfModel = (modelId: string): ChatFamily => rulesOf(findFamily(modelId)).own;

/** At the vendor's own addresses, and at others. */
interface Rules {
  own: ChatFamily;
  elsewhere: ChatFamily;
}

/** Each request asks several times for one of few families. */
const made = new WeakMap<ModelFamily, Rules>();

function rulesOf(family: ModelFamily): Rules {
  let rules = made.get(family);
  if (!rules) {
    const own = makeRules(family);
    rules = { own, elsewhere: own.ownHosts === null ? own : { ...own, ownSampling: false, opensImages: true } };
    made.set(family, rules);
  }
  return rules;
}

function makeRules(family: ModelFamily): ChatFamily {
  const { limitField, maxStops, ...chat } = family.chat;
  const { style, efforts, max, optional } = family.thinking;
  return {
    ...chat,
    reasoning: style === 'none' ? 'none' : chat.reasoning,
    maxTokensField: limitField,
    maxStops: maxStops ?? Number.POSITIVE_INFINITY,
    maxBudget: max,
    efforts,
    highestEffort: (['max', 'xhigh'] as const).find((word) => efforts.includes(word)) ?? 'high',
    noEffort: optional ? 'none' : efforts[0] === 'minimal' ? 'minimal' : null,
    replaysReasoning: family.replaysReasoning,
    fixedSampling: family.sampling.fixed,
    reasonsOnlyAsked: family.thinking.offByDefault,
    maxTemperature: family.sampling.maxTemperature,
    begunReply: family.begunReply === 'prefix' || family.begunReply === 'partial' ? family.begunReply : null,
    needsCallSignature: family.needsCallSignature,
    cacheBreakpoints: family.cacheBreakpoints,
    nineCharacterIds: family.toolIds.maxLength === 9,
  };
}
