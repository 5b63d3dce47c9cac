/**
 * Models that a caller names beside its own: aggregators and other gateways answer with one of them where the first fails. The caller's group was asked
 * for the first alone, and whose price holds for another nobody said.
 */
import type { Loss } from '@model-gateway/contracts';
import type { Edit } from '@model-gateway/json-bytes';
import { Losses } from './losses.ts';
import { own } from './read.ts';

/** OpenRouter's; those of LiteLLM, Bifrost and the messages vendor; and Vercel's, whose lists may stand inside of its options, too. */
const lists = ['models', 'route', 'fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks'] as const;
const options = ['providerOptions', 'gateway', 'models'] as const;

/** Top-level keys that are looked at on every request; the edge notes where they stand. */
export const otherModelKeys: readonly string[] = [...lists, options[0]];

/** Takes such lists out of a body that passes as it is. `field` gives a top-level value, undefined when it is absent. */
export function withoutOtherModels(field: (key: string) => unknown): { edits: Edit[]; losses: readonly Loss[] } {
  const paths: string[][] = lists.filter((key) => field(key) !== undefined).map((key) => [key]);
  if (own(own(field(options[0]), options[1]), options[2]) !== undefined) paths.push([...options]);
  const losses = new Losses();
  for (const path of paths) losses.dropped(path.join('.'), 'Which other models may answer is for an administrator to say.');
  return { edits: paths.map((path) => ({ path, value: undefined })), losses: losses.list };
}
