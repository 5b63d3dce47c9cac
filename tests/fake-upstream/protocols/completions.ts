/** Legacy completions: a prompt in, text out. */
import { alpha } from './alpha.ts';
import { type FakeProtocol, sse, type Turn } from './fake-protocol.ts';

const created = 1_700_000_000;
const usage = (turn: Turn) => ({ prompt_tokens: turn.inputTokens, completion_tokens: turn.outputTokens, total_tokens: turn.inputTokens + turn.outputTokens });

const piece = (turn: Turn, text: string, finish: string | null): object => ({
  id: 'cmpl-fake',
  object: 'text_completion',
  created,
  model: turn.model,
  choices: [{ text, index: 0, logprobs: null, finish_reason: finish }],
});

export const completions: FakeProtocol = {
  ...alpha,
  read: (body) => ({ text: typeof body['prompt'] === 'string' ? body['prompt'] : '', tools: [], toolResult: null }),
  whole: (turn) => ({ ...piece(turn, turn.chunks.join(''), 'stop'), usage: usage(turn) }),
  events: (turn) => [
    ...turn.chunks.map((text) => sse({ ...piece(turn, text, null), ...(turn.includeUsage && { usage: null }) })),
    sse({ ...piece(turn, '', 'stop'), ...(turn.includeUsage && { usage: null }) }),
    ...(turn.includeUsage ? [sse({ ...piece(turn, '', null), choices: [], usage: usage(turn) })] : []),
    'data: [DONE]\n\n',
  ],
  delta: (turn, text) => sse(piece(turn, text, null)),
};
