/** How a reply ended, in this protocol's words (a status and `incomplete_details.reason`) and in ours. */
import type { FinishReason } from '../../chat/event.ts';

export type Ending = { status: 'completed' } | { status: 'incomplete'; reason: 'max_output_tokens' | 'content_filter' };

const byFinish: Readonly<Record<FinishReason, Ending>> = {
  stop: { status: 'completed' },
  length: { status: 'incomplete', reason: 'max_output_tokens' },
  'tool-calls': { status: 'completed' },
  'content-filter': { status: 'incomplete', reason: 'content_filter' },
  refusal: { status: 'completed' },
  'stop-sequence': { status: 'completed' },
  pause: { status: 'completed' },
  'context-window': { status: 'incomplete', reason: 'max_output_tokens' },
  other: { status: 'completed' },
};

export const writeEnding = (reason: FinishReason): Ending => byFinish[reason];

const byIncomplete: ReadonlyMap<string, FinishReason> = new Map([
  ['max_output_tokens', 'length'],
  ['max_tokens', 'length'],
  ['content_filter', 'content-filter'],
  ['model_context_window_exceeded', 'context-window'],
]);

/** `reason` is `incomplete_details.reason`. An unknown one still means that the reply was cut. */
export const readIncomplete = (reason: string | undefined): FinishReason => byIncomplete.get(reason ?? '') ?? 'length';

/** A completed reply says nothing of tools: what was produced decides. */
export function readCompleted(produced: { call: boolean; refusal: boolean }): FinishReason {
  if (produced.call) return 'tool-calls';
  return produced.refusal ? 'refusal' : 'stop';
}
