/** Native DashScope generation: text and multimodal, in pieces or repeating itself. */
import { type Call, callsOf, type FakeProtocol, hasText, listOf, nameOf, type Turn, textOf } from './fake-protocol.ts';

type Messages = { messages?: unknown };

const usage = (turn: Turn) => ({ input_tokens: turn.inputTokens, output_tokens: turn.outputTokens, total_tokens: turn.inputTokens + turn.outputTokens });
const finish = (turn: Turn): string => (turn.tool === null ? 'stop' : 'tool_calls');
const call = ({ id, name }: Call, index: number, args: string, first: boolean) => ({
  index,
  id: first ? id : '',
  type: 'function',
  function: first ? { name, arguments: args } : { arguments: args },
});

const reply = (turn: Turn, message: object, reason: string, counts: object = usage(turn)) => ({
  output: { choices: [{ message: { role: 'assistant', content: '', ...message }, finish_reason: reason }] },
  usage: counts,
  request_id: 'fake-request',
});

const event = (data: unknown, name = 'result', status = 200): string => `id:1\nevent:${name}\n:HTTP_STATUS/${status}\ndata:${JSON.stringify(data)}\n\n`;

function steps(turn: Turn): object[] {
  let said = '';
  const texts = turn.chunks.map((text) => {
    said += text;
    return { content: turn.cumulative ? said : text };
  });
  const calls = callsOf(turn).flatMap((one, index) => {
    const half = one.args.length >> 1;
    return [
      { tool_calls: [call(one, index, one.args.slice(0, half), true)] },
      { tool_calls: [turn.cumulative ? call(one, index, one.args, true) : call(one, index, one.args.slice(half), false)] },
    ];
  });
  return [...texts, ...calls];
}

export const delta: FakeProtocol = {
  read(body) {
    const messages = listOf((body['input'] as Messages | undefined)?.messages);
    const lastUser = messages.findLastIndex((message) => message['role'] === 'user');
    const result = messages.slice(lastUser + 1).findLast((message) => message['role'] === 'tool');
    const parameters = (body['parameters'] ?? {}) as { tools?: unknown };
    return {
      text: textOf(messages[lastUser]?.['content']),
      tools: listOf(parameters.tools).flatMap((tool) => nameOf((tool['function'] as { name?: unknown } | undefined)?.name)),
      toolResult: result === undefined ? null : textOf(result['content']),
    };
  },
  whole: (turn) =>
    reply(
      turn,
      {
        ...(turn.thinking && { reasoning_content: turn.thinking.text }),
        ...(hasText(turn) && { content: turn.chunks.join('') }),
        ...(turn.tool !== null && { tool_calls: callsOf(turn).map((one, index) => call(one, index, one.args, true)) }),
      },
      finish(turn),
    ),
  events(turn) {
    const said = [...(turn.thinking ? [{ reasoning_content: turn.thinking.text }] : []), ...steps(turn)];
    const last = turn.cumulative ? said.at(-1) : {};
    return [...said.map((message, at) => event(reply(turn, message, 'null', { output_tokens: at + 1 }))), event(reply(turn, last ?? {}, finish(turn)))];
  },
  delta: (turn, text) => event(reply(turn, { content: text }, 'null', {})),
  midstreamError: (message) => event({ code: 'ServiceUnavailable', message, request_id: 'fake-request' }, 'error', 503),
  error: (_status, code, message) => ({ code, message, request_id: 'fake-request' }),
  countTokens: (tokens) => ({ output: { token_ids: [] }, usage: { input_tokens: tokens }, request_id: 'fake-request' }),
  models: (ids) => ({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) }),
};
