/**
 * Bedrock: Converse, and the messages vendor's body behind InvokeModel. Events are JSON here, `[type, payload]` or a vendor's own event; the server
 * puts them into binary messages.
 */
import { beta } from './beta.ts';
import { callsOf, type FakeProtocol, hasText, listOf, nameOf, type Turn, textOf } from './fake-protocol.ts';

const exceptions: Record<number, string> = {
  400: 'ValidationException',
  401: 'UnrecognizedClientException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
  529: 'ServiceUnavailableException',
};

const common = {
  error: (_status: number, _code: string, message: string) => ({ message }),
  errorHeaders: (status: number, code: string) => ({
    'x-amzn-errortype': `${code === 'error' ? (exceptions[status] ?? 'InternalServerException') : code}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
  }),
  countTokens: (tokens: number) => ({ inputTokens: tokens }),
  models: (ids: readonly string[]) => ({ modelSummaries: ids.map((modelId) => ({ modelId, modelName: modelId, inferenceTypesSupported: ['ON_DEMAND'] })) }),
};

const stopReason = (turn: Turn): string => (turn.tool === null ? 'end_turn' : 'tool_use');
const usage = (turn: Turn) => ({ inputTokens: turn.inputTokens, outputTokens: turn.outputTokens, totalTokens: turn.inputTokens + turn.outputTokens });
/** One event: its name and its payload, with the padding that the real one has. */
const named = (type: string, payload: object): string => JSON.stringify([type, { ...payload, p: 'abcdefghij' }]);
const delta = (value: object, contentBlockIndex = 0): string => named('contentBlockDelta', { contentBlockIndex, delta: value });

function content(turn: Turn): object[] {
  const { thinking } = turn;
  const thought = thinking ? [{ reasoningContent: { reasoningText: { text: thinking.text, signature: thinking.signature } } }] : [];
  const said = hasText(turn) ? [{ text: turn.chunks.join('') }] : [];
  return [...thought, ...said, ...callsOf(turn).map(({ id, name, args }) => ({ toolUse: { toolUseId: id, name, input: JSON.parse(args) } }))];
}

/** The events of each block, without its stop. */
function blocks(turn: Turn): ((index: number) => string[])[] {
  const { thinking } = turn;
  const thought = thinking
    ? [(index: number) => [delta({ reasoningContent: { text: thinking.text } }, index), delta({ reasoningContent: { signature: thinking.signature } }, index)]]
    : [];
  const said = hasText(turn) ? [(index: number) => turn.chunks.map((text) => delta({ text }, index))] : [];
  const calls = callsOf(turn).map(({ id, name, args }) => (index: number) => {
    const half = args.length >> 1;
    return [
      named('contentBlockStart', { contentBlockIndex: index, start: { toolUse: { toolUseId: id, name } } }),
      ...[args.slice(0, half), args.slice(half)].map((input) => delta({ toolUse: { input } }, index)),
    ];
  });
  return [...thought, ...said, ...calls];
}

export const converse: FakeProtocol = {
  ...common,
  read(asked) {
    const counted = (asked['input'] as { converse?: Record<string, unknown> } | undefined)?.converse;
    const body = counted ?? asked;
    const messages = listOf(body['messages']);
    const results = (content: unknown) => listOf(content).flatMap((block) => listOf([block['toolResult']]));
    const lastText = messages.findLastIndex((one) => one['role'] === 'user' && results(one['content']).length === 0);
    const result = messages
      .slice(lastText + 1)
      .flatMap((one) => results(one['content']))
      .at(-1);
    const tools = listOf((body['toolConfig'] as { tools?: unknown } | undefined)?.tools);
    return {
      text: textOf(messages[lastText]?.['content']),
      tools: tools.flatMap((tool) => nameOf((tool['toolSpec'] as { name?: unknown } | undefined)?.name)),
      toolResult:
        result === undefined ? null : textOf(listOf(result['content']).map((part) => (part['json'] === undefined ? part : JSON.stringify(part['json'])))),
    };
  },
  whole: (turn) => ({
    output: { message: { role: 'assistant', content: content(turn) } },
    stopReason: stopReason(turn),
    usage: usage(turn),
    metrics: { latencyMs: 1 },
  }),
  events(turn) {
    return [
      named('messageStart', { role: 'assistant' }),
      ...blocks(turn).flatMap((block, index) => [...block(index), named('contentBlockStop', { contentBlockIndex: index })]),
      named('messageStop', { stopReason: stopReason(turn) }),
      named('metadata', { usage: usage(turn), metrics: { latencyMs: 1 } }),
    ];
  },
  delta: (_turn, text) => delta({ text }),
  midstreamError: (message) => JSON.stringify(['serviceUnavailableException', { message }, 'exception']),
};

const metrics = (turn: Turn) => ({ inputTokenCount: turn.inputTokens, outputTokenCount: turn.outputTokens, invocationLatency: 1, firstByteLatency: 1 });
const dataOf = (sse: string): string => sse.slice(sse.indexOf('data: ') + 6).trimEnd();

export const invoke: FakeProtocol = {
  ...common,
  read(asked) {
    const counted = (asked['input'] as { invokeModel?: { body?: string } } | undefined)?.invokeModel?.body;
    return beta.read(counted === undefined ? asked : (JSON.parse(Buffer.from(counted, 'base64').toString('utf8')) as Record<string, unknown>));
  },
  whole: beta.whole,
  events: (turn) =>
    beta
      .events(turn)
      .map(dataOf)
      .map((json) => (json.includes('"message_stop"') ? json.replace(/\}$/, `,"amazon-bedrock-invocationMetrics":${JSON.stringify(metrics(turn))}}`) : json)),
  delta: (turn, text, n) => dataOf(beta.delta(turn, text, n)),
  midstreamError: converse.midstreamError,
};
