/**
 * What can be told from an upstream's model id about what it accepts. Requests in this protocol must name `max_tokens` and are refused for a
 * parameter that the model's generation does not know, so the differences that cost a 400 stand here, in one table, newest first.
 * An id that is not one of the vendor's own (a compatible server) gets the forms that have been understood the longest.
 */
export interface ModelFamily {
  /**
   * `max_tokens` when the caller of another protocol names none, where that means "as much as it takes": the largest value that every model of
   * the generation accepts. Too large is a 400, too small cuts replies.
   */
  defaultMaxTokens: number;
  /** How thinking is asked for. `adaptive`: by effort alone, and no sampling parameters at all on `fixedSampling` models. */
  thinking: 'adaptive' | 'budget' | 'none';
  fixedSampling: boolean;
  /** Whether `temperature` and `top_p` may stand together. */
  bothSamplings: boolean;
  /** `output_config.format`; otherwise the schema is asked for in words. */
  structuredOutput: boolean;
  /** `role: system` between other turns. */
  systemTurns: boolean;
  /** The efforts `output_config.effort` takes. */
  efforts: readonly string[];
}

const fourEfforts = ['low', 'medium', 'high', 'max'] as const;
const fiveEfforts = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

/** `from` is major × 100 + minor. */
const generations: readonly { from: number; family: ModelFamily }[] = [
  { from: 408, family: modern({ systemTurns: true, fixedSampling: true, efforts: fiveEfforts }) },
  { from: 407, family: modern({ systemTurns: false, fixedSampling: true, efforts: fiveEfforts }) },
  { from: 406, family: modern({ systemTurns: false, fixedSampling: false, efforts: fourEfforts }) },
  { from: 401, family: earlier({ defaultMaxTokens: 32_000, bothSamplings: false, structuredOutput: true }) },
  { from: 400, family: earlier({ defaultMaxTokens: 32_000 }) },
  { from: 307, family: earlier({ defaultMaxTokens: 32_000 }) },
  { from: 305, family: earlier({ defaultMaxTokens: 8192, thinking: 'none' }) },
  { from: 0, family: earlier({ defaultMaxTokens: 4096, thinking: 'none' }) },
];

const compatible: ModelFamily = earlier({ defaultMaxTokens: 4096, structuredOutput: true });

/** `claude-opus-4-6`, `claude-3-5-haiku-20241022`, `us.anthropic.claude-sonnet-4-20250514-v1:0`: the first one or two short numbers. */
const version = /claude-(?:[a-z]{1,20}-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/i;

export function modelFamily(upstreamModelId: string): ModelFamily {
  const found = version.exec(upstreamModelId);
  if (!found) return compatible;
  const number = Number(found[1]) * 100 + Number(found[2] ?? 0);
  return generations.find((generation) => number >= generation.from)?.family ?? compatible;
}

function modern(differs: Pick<ModelFamily, 'systemTurns' | 'fixedSampling' | 'efforts'>): ModelFamily {
  return { defaultMaxTokens: 64_000, thinking: 'adaptive', bothSamplings: false, structuredOutput: true, ...differs };
}

function earlier(differs: Partial<ModelFamily>): ModelFamily {
  return {
    defaultMaxTokens: 4096,
    thinking: 'budget',
    fixedSampling: false,
    bothSamplings: true,
    structuredOutput: false,
    systemTurns: false,
    efforts: [],
    ...differs,
  };
}
