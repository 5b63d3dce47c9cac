/** What chunks and whole replies say beside the message: read where the reply ends, so that chunks of text cost nothing. */
import type { Losses } from '../../kit/losses.ts';
import { asArray, asCount, asObject, asString, type JsonObject, own } from '../../kit/read.ts';

/** Ratings of one filter, by what it looks for. */
const isRemarkable = (rating: unknown): boolean => {
  const severity = asString(own(rating, 'severity'));
  return own(rating, 'filtered') === true || own(rating, 'detected') === true || (severity !== undefined && severity !== 'safe');
};
const holdsRemarkable = (ratings: unknown): boolean => Object.values(asObject(ratings) ?? {}).some(isRemarkable);

/** Declares what no other protocol has a place for. That filters found nothing is not worth a word. */
export function loseBeside(chunk: unknown, choice: unknown, losses: Losses): void {
  const prompts = asArray(own(chunk, 'prompt_filter_results')) ?? [];
  if (prompts.some((one) => holdsRemarkable(own(one, 'content_filter_results'))))
    losses.dropped('reply.prompt_filter_results', 'How a filter rated the prompt has no place.');
  if (holdsRemarkable(own(choice, 'content_filter_results'))) losses.dropped('reply.content_filter_results', 'How a filter rated the answer has no place.');
  if (own(chunk, 'prompt_cache_diagnostics') !== undefined)
    losses.dropped('reply.prompt_cache_diagnostics', 'How a reply compares with an earlier one in the cache of its vendor has no place.');
  if (own(chunk, 'moderation') !== undefined) losses.dropped('reply.moderation', 'How a filter rated the answer has no place.');
}

/** Counts of sound, and of a prediction: parts of sums that every protocol tells. */
export function loseCounts(usage: unknown, losses: Losses): void {
  const details = [own(usage, 'prompt_tokens_details'), own(usage, 'completion_tokens_details')];
  if (details.some((one) => asCount(own(one, 'audio_tokens')) > 0)) losses.dropped('reply.usage.audio_tokens', 'Tokens of sound are counted with the others.');
  const predicted = details.some((one) => asCount(own(one, 'accepted_prediction_tokens')) + asCount(own(one, 'rejected_prediction_tokens')) > 0);
  if (predicted) losses.dropped('reply.usage.prediction_tokens', 'Tokens of a prediction are counted with the others.');
}

/** Pages that the vendor searched for the whole reply, as annotations; undefined if it named none. */
export function readSearched(chunk: unknown, losses: Losses): JsonObject[] | undefined {
  const results = asArray(own(chunk, 'search_results'));
  const addresses = asArray(own(chunk, 'citations'));
  const found = results?.length ? results : (addresses ?? []);
  const annotations = found.flatMap((result) => {
    const url = asString(result) ?? asString(own(result, 'url'));
    return url ? [{ type: 'url_citation', url_citation: { url, title: asString(own(result, 'title')) ?? '', start_index: 0, end_index: 0 } }] : [];
  });
  if (annotations.length === 0) return undefined;
  if (results?.some((result) => Object.keys(asObject(result) ?? {}).some((key) => key !== 'url' && key !== 'title')))
    losses.add('reply.search_results', 'downgraded', 'Pages that were found keep their address and title.');
  return annotations;
}
