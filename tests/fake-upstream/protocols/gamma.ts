/** Generate content. Events are bare JSON objects here; the server frames them as SSE or as a JSON array. */
import { callsOf, type FakeProtocol, hasText, listOf, nameOf, type Turn } from './fake-protocol.ts';

const usage = (turn: Turn) => ({
  promptTokenCount: turn.inputTokens,
  candidatesTokenCount: turn.outputTokens,
  totalTokenCount: turn.inputTokens + turn.outputTokens,
});
const reply = (turn: Turn, parts: unknown[], last: boolean) => ({
  candidates: [{ content: { parts, role: 'model' }, ...(last && { finishReason: 'STOP' }), index: 0 }],
  usageMetadata: usage(turn),
  modelVersion: turn.model,
  responseId: 'fake',
});
/** The signature stands on the first call, or on the text. */
const callParts = (turn: Turn) =>
  callsOf(turn).map(({ name, args }, index) => ({
    functionCall: { name, args: JSON.parse(args) },
    ...(index === 0 && turn.thinking && { thoughtSignature: turn.thinking.signature }),
  }));
const thoughts = (turn: Turn) => (turn.thinking ? [{ text: turn.thinking.text, thought: true }] : []);
const statuses: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};
const partsOf = (content: Record<string, unknown> | undefined) => listOf(content?.['parts']);

export const gamma: FakeProtocol = {
  read(asked) {
    // A count may hold the whole request that it counts.
    const body = (asked['generateContentRequest'] as Record<string, unknown> | undefined) ?? asked;
    const contents = listOf(body['contents']);
    const results = (content: Record<string, unknown>) => partsOf(content).filter((part) => part['functionResponse'] !== undefined);
    const lastText = contents.findLastIndex((content) => content['role'] !== 'model' && results(content).length === 0);
    const result = contents
      .slice(lastText + 1)
      .flatMap(results)
      .at(-1);
    return {
      text: partsOf(contents[lastText])
        .map((part) => (typeof part['text'] === 'string' ? part['text'] : ''))
        .join(''),
      tools: listOf(body['tools']).flatMap((tool) => listOf(tool['functionDeclarations']).flatMap((one) => nameOf(one['name']))),
      toolResult: result === undefined ? null : JSON.stringify((result['functionResponse'] as { response?: unknown }).response ?? null),
    };
  },
  whole: (turn) => reply(turn, [...thoughts(turn), ...(hasText(turn) ? [{ text: turn.chunks.join('') }] : []), ...callParts(turn)], true),
  events(turn) {
    const before = turn.thinking ? [JSON.stringify(reply(turn, thoughts(turn), false))] : [];
    const said = turn.chunks.map((text, i) => JSON.stringify(reply(turn, [{ text }], turn.tool === null && i === turn.chunks.length - 1)));
    return [...before, ...said, ...(turn.tool === null ? [] : [JSON.stringify(reply(turn, callParts(turn), true))])];
  },
  delta: (turn, text) => JSON.stringify(reply(turn, [{ text }], false)),
  midstreamError: (message) => JSON.stringify({ error: { code: 503, message, status: 'UNAVAILABLE' } }),
  error: (status, code, message) => ({ error: { code: status, message, status: code === 'error' ? (statuses[status] ?? 'UNKNOWN') : code } }),
  countTokens: (tokens) => ({ totalTokens: tokens }),
  models: (ids) => ({ models: ids.map((id) => ({ name: `models/${id}`, displayName: id, supportedGenerationMethods: ['generateContent', 'countTokens'] })) }),
};
