/** Gamma's usageMetadata against the disjoint buckets. */
import { inputTokensOf, noUsage, type Usage } from '@model-gateway/contracts';
import type { Losses } from '../../kit/losses.ts';
import { asCount, asNumber, asObject } from '../../kit/read.ts';
import { billedTier, readServedTier, type ServedTier } from '../../kit/service-tier.ts';
import { splitSoundIn, splitSoundOut } from '../../kit/sound-tokens.ts';
import { field, listField, textField } from './fields.ts';
import { tiersRead, unspecifiedTiers } from './service-tiers.ts';
import type { WireDetail, WireUsage } from './wire.ts';

const counts = ['promptTokenCount', 'cachedContentTokenCount', 'toolUsePromptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount'] as const;

const detailLists = ['promptTokensDetails', 'cacheTokensDetails', 'candidatesTokensDetails'] as const;
type DetailList = (typeof detailLists)[number];

/**
 * Counts are cumulative and the last one wins, field by field: some chunks in the middle of a stream lack a count that an earlier one had.
 * `promptTokenCount` includes the cached part, `candidatesTokenCount` excludes thoughts, and what built-in tools read comes on top of the prompt.
 * Audio tokens are part of these counts; how many there are is in the lists of details, which chunks may lack as well.
 */
export class UsageReader {
  readonly #latest = new Map<string, number>();
  readonly #details: Partial<Record<DetailList, unknown>> = {};
  /** The last one that was seen. */
  metadata: unknown;

  /** Takes one `usageMetadata`; true when it held a count (the other cloud's early chunks hold none). */
  take(metadata: unknown): boolean {
    if (!asObject(metadata)) return false;
    this.metadata = metadata;
    for (const name of detailLists) {
      const details = listField(metadata, name);
      if (details.length > 0) this.#details[name] = details;
    }
    let found = false;
    for (const name of counts) {
      const value = field(metadata, name);
      if (asNumber(value) === undefined) continue;
      this.#latest.set(name, asCount(value));
      found = true;
    }
    return found;
  }

  /** Whether anything was counted: a reply without counts was not free. */
  get any(): boolean {
    return this.#latest.size > 0;
  }

  get usage(): Usage {
    const count = (name: (typeof counts)[number]): number => this.#latest.get(name) ?? 0;
    const prompt = count('promptTokenCount');
    const cacheRead = Math.min(prompt, count('cachedContentTokenCount'));
    const audioRead = Math.max(0, tokensOf(this.#details, 'promptTokensDetails', 'AUDIO') - tokensOf(this.#details, 'cacheTokensDetails', 'AUDIO'));
    return {
      ...noUsage,
      ...splitSoundIn(prompt - cacheRead + count('toolUsePromptTokenCount'), audioRead),
      cacheRead,
      ...splitSoundOut(count('candidatesTokenCount'), tokensOf(this.#details, 'candidatesTokensDetails', 'AUDIO')),
      reasoning: count('thoughtsTokenCount'),
      ...this.#ofImages(),
      ...billedTier(tierWord(this.metadata), tiersRead),
    };
  }

  /** Images that are written have a price of their own; those that are read cost what text does. */
  #ofImages(): Pick<Usage, 'imageOutput'> {
    const imageOutput = imageTokens(this.#details, 'candidatesTokensDetails');
    return imageOutput > 0 ? { imageOutput } : {};
  }
}

/** Of one list of counts by kind of content. */
export const imageTokens = (metadata: unknown, name: DetailList): number => tokensOf(metadata, name, 'IMAGE');

const tokensOf = (metadata: unknown, name: DetailList, modality: 'IMAGE' | 'AUDIO'): number =>
  listField(metadata, name).reduce<number>((sum, one) => sum + (textField(one, 'modality') === modality ? asCount(field(one, 'tokenCount')) : 0), 0);

/** Which tier served the reply, by the last `usageMetadata`. */
export function readTier(metadata: unknown, losses: Losses): ServedTier | undefined {
  const word = tierWord(metadata);
  return word === undefined ? undefined : readServedTier(word, tiersRead, losses);
}

/** The word for its tier, in lower case; undefined: none, or one that tells nothing. */
export function tierWord(metadata: unknown): string | undefined {
  const word = (textField(metadata, 'serviceTier') ?? textField(metadata, 'trafficType'))?.toLowerCase();
  return word === undefined || unspecifiedTiers.has(word) ? undefined : word;
}

/** Declares counts of single kinds of content, which others tell in sum. */
export function loseDetails(metadata: unknown, losses: Losses): void {
  for (const name of ['promptTokensDetails', 'candidatesTokensDetails'])
    for (const one of listField(metadata, name)) {
      if (asCount(field(one, 'tokenCount')) > 0 && !/^(?:text|modality_unspecified)$/i.test(textField(one, 'modality') ?? 'text'))
        losses.dropped(`reply.usage.${name}`, 'Tokens of images and sound are counted with the others.');
    }
}

export function writeUsage(usage: Usage): WireUsage {
  const { audioInput = 0, audioOutput = 0 } = usage;
  const prompt = inputTokensOf(usage);
  const candidates = usage.output + audioOutput;
  const details = detailsOf({ IMAGE: usage.imageOutput, AUDIO: audioOutput });
  return {
    promptTokenCount: prompt,
    ...(usage.cacheRead > 0 && { cachedContentTokenCount: usage.cacheRead }),
    candidatesTokenCount: candidates,
    ...(usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
    totalTokenCount: prompt + candidates + usage.reasoning,
    ...(audioInput > 0 && { promptTokensDetails: detailsOf({ TEXT: prompt - audioInput, AUDIO: audioInput }) }),
    ...(details.length > 0 && { candidatesTokensDetails: details }),
  };
}

const detailsOf = (counts: Partial<Record<WireDetail['modality'], number>>): WireDetail[] =>
  (Object.entries(counts) as [WireDetail['modality'], number | undefined][]).flatMap(([modality, tokenCount]) =>
    tokenCount ? [{ modality, tokenCount }] : [],
  );
