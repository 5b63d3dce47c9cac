/** Log probabilities: gamma's `logprobsResult` in the form of chat completions, the only other protocol that has a field for it. */
import type { RawFields } from '../../alpha/index.ts';
import { asNumber } from '../../kit/read.ts';
import { field, listField, objectField, textField } from '../shared/fields.ts';

/** More tokens than one chunk or reply has. */
const max = 200_000;

const toTokenEntry = (candidate: unknown) => {
  const token = textField(candidate, 'token') ?? '';
  return { token, logprob: asNumber(field(candidate, 'logProbability')) ?? 0, bytes: [...Buffer.from(token, 'utf8')] };
};

/** undefined when the upstream sent none. */
export function readProbabilities(candidate: unknown): RawFields | undefined {
  const result = objectField(candidate, 'logprobsResult');
  const chosen = listField(result, 'chosenCandidates').slice(0, max);
  if (chosen.length === 0) return undefined;
  const tops = listField(result, 'topCandidates');
  const content = chosen.map((token, at) => ({ ...toTokenEntry(token), top_logprobs: listField(tops[at], 'candidates').map(toTokenEntry) }));
  return { place: 'choice', fields: { logprobs: { content, refusal: null } } };
}
