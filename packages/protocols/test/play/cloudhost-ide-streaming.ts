/** Plays the assistant service: text and reasoning as they come, calls one after the other, no reason and no counts but for what the law needs. */
import { type ChatEvent, type Conversation, foldEvents, type Part, type Turn } from '../../src/index.ts';
import { writeEvent } from './event-stream.ts';
import type { UpstreamPlayer } from './player.ts';

// biome-ignore lint/suspicious/noExplicitAny: a wrong guess of the shape fails the law
type Json = any;

const reasons: Record<string, string> = {
  stop: 'END_TURN',
  length: 'MAX_TOKENS',
  'tool-calls': 'TOOL_USE',
  'stop-sequence': 'STOP_SEQUENCE',
  'content-filter': 'CONTENT_FILTERED',
  refusal: 'REFUSAL',
};

/** Pages are cited one event each. */
const citations = (value: unknown): Uint8Array[] =>
  ((value as Json).fields?.annotations ?? []).map(({ url_citation: { url, title } }: Json) =>
    writeEvent('citationEvent', { citationLink: url, citationText: title }),
  );

function stream(events: readonly ChatEvent[]): Uint8Array[] {
  const { blocks, finish, usage } = foldEvents(events);
  const out: Uint8Array[] = [writeEvent('initial-response', { conversationId: '' })];
  for (const { start, text, signature } of blocks) {
    const pieces = text.match(/[\s\S]{1,5}/gu) ?? [];
    if (start.type === 'text' || start.type === 'refusal')
      for (const content of pieces) out.push(writeEvent('assistantResponseEvent', { content, modelId: 'auto' }));
    if (start.type === 'thinking') {
      for (const piece of pieces) out.push(writeEvent('reasoningContentEvent', { text: piece }));
      if (signature !== undefined) out.push(writeEvent('reasoningContentEvent', { signature }));
    }
    if (start.type === 'raw') out.push(...citations(start.value));
    if (start.type !== 'tool-call') continue;
    const call = { toolUseId: start.id, name: start.name };
    out.push(writeEvent('toolUseEvent', call));
    for (const input of ['', ...pieces]) out.push(writeEvent('toolUseEvent', { ...call, input }));
    out.push(writeEvent('toolUseEvent', { ...call, stop: true }));
  }
  const tokenUsage = { uncachedInputTokens: usage.input, cacheReadInputTokens: usage.cacheRead, outputTokens: usage.output + usage.reasoning };
  return [
    ...out,
    writeEvent('contextUsageEvent', { contextUsagePercentage: 1.5 }),
    writeEvent('metadataEvent', { stopReason: reasons[finish.reason] ?? 'END_TURN', tokenUsage }),
    writeEvent('meteringEvent', { unit: 'credit', usage: 0.1 }),
  ];
}

function readUser(message: Json): Turn {
  const results = message.userInputMessageContext?.toolResults ?? [];
  const parts: Part[] = [
    ...results.map(
      (result: Json): Part => ({
        type: 'tool-result',
        callId: result.toolUseId,
        content: result.content.map((inner: Json) => ({ type: 'text', text: inner.text ?? JSON.stringify(inner.json) })),
      }),
    ),
    ...(message.content === '' ? [] : [{ type: 'text' as const, text: message.content as string }]),
    ...(message.images ?? []).map((image: Json): Part => ({ type: 'media', kind: 'image', mimeType: `image/${image.format}`, data: image.source.bytes })),
  ];
  return { role: 'user', parts };
}

function readAssistant(message: Json): Turn {
  const calls = (message.toolUses ?? []).map(
    (use: Json): Part => ({ type: 'tool-call', id: use.toolUseId, name: use.name, arguments: JSON.stringify(use.input) }),
  );
  return { role: 'assistant', parts: [...(message.content === '' ? [] : [{ type: 'text' as const, text: message.content as string }]), ...calls] };
}

function readRequest(body: unknown): Conversation {
  const { history, currentMessage } = (body as Json).conversationState;
  const current = currentMessage.userInputMessage;
  const turns: Turn[] = [...history, currentMessage].map((entry: Json) =>
    entry.userInputMessage ? readUser(entry.userInputMessage) : readAssistant(entry.assistantResponseMessage),
  );
  const opened = turns[1]?.parts[0];
  const hasSystem = opened?.type === 'text' && opened.text.startsWith('I will follow');
  const system = hasSystem ? turns.splice(0, 2)[0]!.parts.map((part) => ({ text: (part as { text: string }).text })) : [];
  return {
    system,
    turns,
    tools: (current.userInputMessageContext?.tools ?? []).map(({ toolSpecification: tool }: Json) => ({
      type: 'function',
      name: tool.name,
      description: tool.description,
      parameters: tool.inputSchema.json,
    })),
    sampling: {},
    stream: true,
  };
}

export const ideStreamingPlayer: UpstreamPlayer = { stream, readRequest };
