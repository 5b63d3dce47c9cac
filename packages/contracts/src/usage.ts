/**
 * Token counts of one reply in disjoint buckets: the four input buckets add up to what the upstream read, and `output + reasoning` to what it wrote.
 * Vendors count differently (some include cached tokens in the input, some reasoning in the output), so every protocol converts its own counts to
 * these.
 */
export interface TokenUsage {
  /** Fresh (uncached) prompt tokens. */
  input: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  /** Visible output, without reasoning where the upstream reports the two separately. */
  output: number;
  reasoning: number;
}

/** Tokens of a second model, which has prices of its own. */
export interface HelperUsage {
  model: string;
  input: number;
  output: number;
  reasoning: number;
}

/** What one reply used: tokens, and what is priced otherwise. */
export interface Usage extends TokenUsage {
  /** Tokens of sound, which are none of the others. Absent: none were counted. */
  audioInput?: number;
  audioOutput?: number;
  /** Of `input` and of `output`: tokens of images. Absent: none were told apart. */
  imageInput?: number;
  imageOutput?: number;
  /** Of the tokens above: those of a model that helped the one that answered, under its vendor's name. */
  helper?: HelperUsage;
  /** What is priced by the piece, where anybody counted it: images made, whole seconds of sound or film, characters read aloud. */
  images?: number;
  seconds?: number;
  characters?: number;
  /** The tier that served it, where the upstream names another than its standard one: `flex`, `priority`, `fast`. Prices go by it. */
  serviceTier?: string;
}

/** Words of vendors for their standard tier, which no usage and no row names: it costs what a price itself says. */
export const standardServiceTiers: ReadonlySet<string> = new Set(['auto', 'default', 'standard', 'standard_only', 'on_demand']);

/** All that the upstream read, sound included. */
export const inputTokensOf = ({ input, audioInput = 0, cacheRead, cacheWrite5m, cacheWrite1h }: Usage): number =>
  input + audioInput + cacheRead + cacheWrite5m + cacheWrite1h;

/** All that it wrote, sound and reasoning included. */
export const outputTokensOf = ({ output, audioOutput = 0, reasoning }: Usage): number => output + audioOutput + reasoning;

export type UsageSource = 'upstream' | 'partial' | 'estimated';

export const noUsage: Readonly<TokenUsage> = Object.freeze({ input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 0 });
