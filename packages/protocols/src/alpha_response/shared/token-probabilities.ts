/** Log probabilities: a field of the text here, of the choice in chat completions. */
import type { RawFields } from '../../alpha/index.ts';
import type { BlockStart } from '../../chat/event.ts';
import { asArray, asNumber, asString, type JsonObject, own } from '../../kit/read.ts';

/** What `include` calls them. */
export const included = 'message.output_text.logprobs';

/** `bytes` are absent from the pieces of a stream; each protocol spells that differently. */
const toTokenEntry = (entry: unknown, noBytes: unknown): JsonObject => ({
  token: asString(own(entry, 'token')) ?? '',
  logprob: asNumber(own(entry, 'logprob')) ?? 0,
  bytes: asArray(own(entry, 'bytes')) ?? noBytes,
});

const listed = (list: unknown, noBytes: unknown): JsonObject[] =>
  (asArray(list) ?? []).map((entry) => ({
    ...toTokenEntry(entry, noBytes),
    top_logprobs: (asArray(own(entry, 'top_logprobs')) ?? []).map((top) => toTokenEntry(top, noBytes)),
  }));

/** `logprobs` of a text or of a piece of it; undefined when absent. */
export function readProbabilities(logprobs: unknown): RawFields | undefined {
  const content = listed(logprobs, null);
  return content.length === 0 ? undefined : { place: 'choice', fields: { logprobs: { content, refusal: null } } };
}

/** Those that a raw block of chat completions holds, and nothing else; undefined when it holds something else. */
export function writeProbabilities({ protocol, value }: Extract<BlockStart, { type: 'raw' }>): JsonObject[] | undefined {
  const fields = own(value, 'fields');
  const content = asArray(own(own(fields, 'logprobs'), 'content'));
  return protocol === 'alpha' && own(value, 'place') === 'choice' && content && Object.keys(fields as object).length === 1 ? listed(content, []) : undefined;
}
