/** The assistant service: binary streams alone, no counts, no stop reason. */
import { callsOf, type FakeProtocol, listOf, nameOf, type Turn, textOf } from './fake-protocol.ts';

/** A message of the binary stream, as `reply.ts` frames it. */
const event = (type: string, payload: unknown): string => JSON.stringify([type, payload]);

interface Current {
  content?: unknown;
  modelId?: unknown;
  userInputMessageContext?: { tools?: unknown; toolResults?: unknown };
}

/** The message that asks. */
export const currentOf = (body: Record<string, unknown>): Current =>
  (body['conversationState'] as { currentMessage?: { userInputMessage?: Current } } | undefined)?.currentMessage?.userInputMessage ?? {};

/** Results are text, or JSON. */
const resultText = (content: unknown): string => textOf(listOf(content).map((part) => (part['json'] === undefined ? part : JSON.stringify(part['json']))));

function said(turn: Turn): string[] {
  const texts = turn.chunks.map((content) => event('assistantResponseEvent', { content, modelId: turn.model }));
  const calls = callsOf(turn).flatMap(({ id, name, args }) => {
    const half = args.length >> 1;
    const call = { toolUseId: id, name };
    const inputs = ['', args.slice(0, half), args.slice(half)].map((input) => event('toolUseEvent', { ...call, input }));
    return [event('toolUseEvent', call), ...inputs, event('toolUseEvent', { ...call, stop: true })];
  });
  return [...texts, ...calls];
}

export const ideStreaming: FakeProtocol = {
  read(body) {
    const { content, userInputMessageContext: context } = currentOf(body);
    const results = listOf(context?.toolResults);
    return {
      text: textOf(content),
      tools: listOf(context?.tools).flatMap((tool) => nameOf((tool['toolSpecification'] as { name?: unknown } | undefined)?.name)),
      toolResult: results.length === 0 ? null : resultText(results.at(-1)?.['content']),
    };
  },
  // The service has no whole replies: nothing ever asks for one.
  whole: () => ({ __type: 'fake#InternalServerException', message: 'no whole replies here' }),
  events: (turn) => [
    event('initial-response', { conversationId: '' }),
    ...said(turn),
    event('contextUsageEvent', { contextUsagePercentage: 2.5 }),
    event('meteringEvent', { unit: 'credit', unitPlural: 'credits', usage: 0.04 }),
  ],
  delta: (turn, content) => event('assistantResponseEvent', { content, modelId: turn.model }),
  midstreamError: (text) => JSON.stringify(['ServiceUnavailableException', { message: text }, 'exception']),
  error: (_status, code, text) => ({ __type: `fake#${code}`, message: text }),
  countTokens: () => ({}),
  models: (ids) => ({ defaultModel: { modelId: 'ok' }, models: ids.map((modelId) => ({ modelId })) }),
};
