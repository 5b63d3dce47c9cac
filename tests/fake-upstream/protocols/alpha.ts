/** Chat completions. */
import { type Call, callsOf, type FakeProtocol, hasText, listOf, nameOf, sse, type Turn, textOf } from './fake-protocol.ts';

const created = 1_700_000_000;
const usage = (turn: Turn) => ({ prompt_tokens: turn.inputTokens, completion_tokens: turn.outputTokens, total_tokens: turn.inputTokens + turn.outputTokens });
const finish = (turn: Turn): string => (turn.tool === null ? 'stop' : 'tool_calls');
const call = ({ id, name, args }: Call) => ({ id, type: 'function', function: { name, arguments: args } });

const chunk = (turn: Turn, delta: unknown, finishReason: string | null = null): string =>
  sse({
    id: 'chatcmpl-fake',
    object: 'chat.completion.chunk',
    created,
    model: turn.model,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    ...(turn.includeUsage && { usage: null }),
  });

export const alpha: FakeProtocol = {
  read(body) {
    const messages = listOf(body['messages']);
    const lastUser = messages.findLastIndex((message) => message['role'] === 'user');
    const result = messages.slice(lastUser + 1).findLast((message) => message['role'] === 'tool');
    return {
      text: textOf(messages[lastUser]?.['content']),
      tools: listOf(body['tools']).flatMap((tool) => nameOf((tool['function'] as { name?: unknown } | undefined)?.name)),
      toolResult: result === undefined ? null : textOf(result['content']),
    };
  },
  whole: (turn) => ({
    id: 'chatcmpl-fake',
    object: 'chat.completion',
    created,
    model: turn.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: hasText(turn) ? turn.chunks.join('') : null,
          refusal: null,
          ...(turn.tool !== null && { tool_calls: callsOf(turn).map(call) }),
          ...(turn.thinking && { reasoning_content: turn.thinking.text }),
        },
        logprobs: null,
        finish_reason: finish(turn),
      },
    ],
    usage: usage(turn),
  }),
  events(turn) {
    const events = [chunk(turn, { role: 'assistant', content: hasText(turn) ? '' : null })];
    if (turn.thinking) events.push(chunk(turn, { reasoning_content: turn.thinking.text }));
    for (const text of turn.chunks) events.push(chunk(turn, { content: text }));
    for (const [index, { id, name, args }] of callsOf(turn).entries()) {
      events.push(chunk(turn, { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }));
      const half = args.length >> 1;
      for (const piece of [args.slice(0, half), args.slice(half)]) events.push(chunk(turn, { tool_calls: [{ index, function: { arguments: piece } }] }));
    }
    events.push(chunk(turn, {}, finish(turn)));
    if (turn.includeUsage)
      events.push(sse({ id: 'chatcmpl-fake', object: 'chat.completion.chunk', created, model: turn.model, choices: [], usage: usage(turn) }));
    events.push('data: [DONE]\n\n');
    return events;
  },
  delta: (turn, text) => chunk(turn, { content: text }),
  midstreamError: (message) => sse({ error: { message, type: 'server_error', param: null, code: 'server_error' } }),
  error: (_status, code, message) => ({ error: { message, type: code, param: null, code } }),
  countTokens: (tokens) => ({ input_tokens: tokens }),
  models: (ids) => ({ object: 'list', data: ids.map((id) => ({ id, object: 'model', created, owned_by: 'fake' })) }),
};
