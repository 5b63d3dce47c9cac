/** Gamma's usageMetadata against the disjoint buckets. */
import { noUsage, type Usage } from '@model-gateway/contracts';
import { asCount, asNumber, asObject } from '../kit/read.ts';
import { field } from './fields.ts';
import type { WireUsage } from './wire.ts';

const counts = ['promptTokenCount', 'cachedContentTokenCount', 'toolUsePromptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount'] as const;

/**
 * Counts are cumulative and the last one wins, field by field: some chunks in the middle of a stream lack a count that an earlier one had.
 * `promptTokenCount` includes the cached part, `candidatesTokenCount` excludes thoughts, and what built-in tools read comes on top of the prompt.
 */
export class UsageReader {
  readonly #latest = new Map<string, number>();

  /** Takes one `usageMetadata`; true when it held a count (the other cloud's early chunks hold none). */
  take(metadata: unknown): boolean {
    if (!asObject(metadata)) return false;
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
    return {
      ...noUsage,
      input: prompt - cacheRead + count('toolUsePromptTokenCount'),
      cacheRead,
      output: count('candidatesTokenCount'),
      reasoning: count('thoughtsTokenCount'),
    };
  }
}

export function writeUsage(usage: Usage): WireUsage {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h;
  return {
    promptTokenCount: prompt,
    ...(usage.cacheRead > 0 && { cachedContentTokenCount: usage.cacheRead }),
    candidatesTokenCount: usage.output,
    ...(usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
    totalTokenCount: prompt + usage.output + usage.reasoning,
  };
}
