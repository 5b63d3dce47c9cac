/** Plays Converse: replies as the host words them, and requests read back as far as the wire carries them. */
import type { Usage } from '@model-gateway/contracts';
import type { ChatEvent, Conversation, FinishReason, Message, Part, Turn } from '../../src/index.ts';
import { writeEvent as writeMessage } from './event-stream.ts';
import type { UpstreamPlayer } from './player.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are read freely; a wrong guess shows as a failed comparison.
type Json = any;

const stopReasons: Partial<Record<FinishReason, string>> = {
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  'stop-sequence': 'stop_sequence',
  'content-filter': 'content_filtered',
  refusal: 'refusal',
  pause: 'pause_turn',
  'context-window': 'model_context_window_exceeded',
};
const stopReason = (reason: FinishReason): string => stopReasons[reason] ?? 'end_turn';

const writeUsage = (usage: Usage): Json => ({
  inputTokens: usage.input,
  outputTokens: usage.output + usage.reasoning,
  totalTokens: usage.input + usage.output + usage.reasoning,
  cacheReadInputTokens: usage.cacheRead,
  cacheWriteInputTokens: usage.cacheWrite5m + usage.cacheWrite1h,
});

const blobOf = (data: string): string => Buffer.from(data, 'latin1').toString('base64');

type Named = [type: string, payload: Json];

/** One event of the wire or none; only tools announce their blocks. */
function writeEvent(event: ChatEvent): Named[] {
  switch (event.type) {
    case 'start':
      return [['messageStart', { role: 'assistant' }]];
    case 'block-start': {
      const at = { contentBlockIndex: event.index };
      if (event.block.type === 'tool-call')
        return [['contentBlockStart', { ...at, start: { toolUse: { toolUseId: event.block.id, name: event.block.name } } }]];
      if (event.block.type === 'redacted-thinking') return [delta(event.index, { reasoningContent: { redactedContent: blobOf(event.block.data) } })];
      return [];
    }
    case 'text-delta':
    case 'refusal-delta':
      return [delta(event.index, { text: event.text })];
    case 'thinking-delta':
      return [delta(event.index, { reasoningContent: { text: event.text } })];
    case 'signature':
      return [delta(event.index, { reasoningContent: { signature: event.signature } })];
    case 'arguments-delta':
      return [delta(event.index, { toolUse: { input: event.text } })];
    case 'raw-delta':
      return [delta(event.index, event.value)];
    case 'block-end':
      return [['contentBlockStop', { contentBlockIndex: event.index }]];
    case 'finish':
      return [['messageStop', { stopReason: stopReason(event.reason) }]];
    default:
      return [];
  }
}

const delta = (index: number, value: Json): Named => ['contentBlockDelta', { contentBlockIndex: index, delta: value, p: 'abcd' }];

/** The counts come last. */
export function converseEvents(events: readonly ChatEvent[]): Named[] {
  const usage = events.findLast((event) => event.type === 'usage');
  const ended = events.some(({ type }) => type === 'end');
  const named = events.flatMap(writeEvent);
  return ended ? [...named, ['metadata', { ...(usage && { usage: writeUsage(usage.usage) }), metrics: { latencyMs: 1 } }]] : named;
}

export const converseWhole = (reply: Message): Json => ({
  output: { message: { role: 'assistant', content: reply.blocks.flatMap(writeBlock) } },
  stopReason: stopReason(reply.finish.reason),
  usage: writeUsage(reply.usage),
  metrics: { latencyMs: 1 },
});

function writeBlock({ start, text, signature }: Message['blocks'][number]): Json[] {
  if (start.type === 'text' || start.type === 'refusal') return [{ text }];
  if (start.type === 'thinking') return [{ reasoningContent: { reasoningText: { text, ...(signature && { signature }) } } }];
  if (start.type === 'redacted-thinking') return [{ reasoningContent: { redactedContent: blobOf(start.data) } }];
  return start.type === 'tool-call' ? [{ toolUse: { toolUseId: start.id, name: start.name, input: JSON.parse(text || '{}') } }] : [];
}

const list = (value: Json): Json[] => (Array.isArray(value) ? value : []);

export function readConverse(body: Json): Conversation {
  const config = body.inferenceConfig ?? {};
  const choice = body.toolConfig?.toolChoice;
  const schema = body.outputConfig?.textFormat?.structure?.jsonSchema?.schema;
  return {
    system: list(body.system).flatMap((block) => (block.text === undefined ? [] : [{ text: block.text }])),
    turns: list(body.messages).map((one): Turn => ({ role: one.role, parts: list(one.content).flatMap(readPart) })),
    tools: list(body.toolConfig?.tools).flatMap(({ toolSpec }) =>
      toolSpec ? [{ type: 'function' as const, name: toolSpec.name, description: toolSpec.description, parameters: toolSpec.inputSchema.json }] : [],
    ),
    ...(choice && {
      toolChoice: choice.tool ? { type: 'tool' as const, name: choice.tool.name } : { type: choice.any ? ('any' as const) : ('auto' as const) },
    }),
    ...(schema && { output: { type: 'schema' as const, schema: JSON.parse(schema) } }),
    sampling: {
      ...(config.maxTokens !== undefined && { maxTokens: config.maxTokens }),
      ...(config.temperature !== undefined && { temperature: config.temperature }),
      ...(config.topP !== undefined && { topP: config.topP }),
      ...(config.stopSequences !== undefined && { stop: config.stopSequences }),
    },
    stream: true,
  };
}

function readPart(block: Json): Part[] {
  if (block.text !== undefined) return [{ type: 'text', text: block.text }];
  if (block.toolUse) return [{ type: 'tool-call', id: block.toolUse.toolUseId, name: block.toolUse.name, arguments: JSON.stringify(block.toolUse.input) }];
  if (block.toolResult) return [{ type: 'tool-result', callId: block.toolResult.toolUseId, content: block.toolResult.content.flatMap(readPart) }];
  if (block.reasoningContent) return [{ type: 'thinking', text: block.reasoningContent.reasoningText?.text ?? '' }];
  return block.image ? [{ type: 'media', kind: 'image', data: block.image.source.bytes }] : [];
}

export const conversePlayer: UpstreamPlayer = {
  stream: (events) => converseEvents(events).map(([type, payload]) => writeMessage(type, payload)),
  whole: converseWhole,
  readRequest: (body) => readConverse(JSON.parse(JSON.stringify(body))),
};
