/** Messages through `@anthropic-ai/sdk`. */
import Anthropic from '@anthropic-ai/sdk';
import type { Message, MessageCreateParamsNonStreaming, MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type { Asked, Reaction, Said, SdkChat, SdkOptions, Stop } from './sdk-chat.ts';

export const anthropicClient = ({ url, key }: SdkOptions): Anthropic => new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 });

const stops: Record<string, Stop> = { end_turn: 'stop', max_tokens: 'length', tool_use: 'tools', stop_sequence: 'stop-sequence' };

export function startMessages(options: SdkOptions, model: string, asked: Asked): SdkChat {
  const client = anthropicClient(options);
  const messages: MessageParam[] = [
    {
      role: 'user',
      content:
        asked.image === undefined
          ? asked.text
          : [
              { type: 'text', text: asked.text },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: asked.image } },
            ],
    },
  ];
  return {
    async send(reaction) {
      const reply = await ask(client, body(reaction.model ?? model, messages, asked), reaction);
      messages.push({ role: 'assistant', content: reply.content as MessageParam['content'] });
      return said(reply);
    },
    answer: (results) =>
      void messages.push({ role: 'user', content: results.map(({ id, output }) => ({ type: 'tool_result' as const, tool_use_id: id, content: output })) }),
    say: (text) => void messages.push({ role: 'user', content: text }),
  };
}

function body(model: string, messages: MessageParam[], asked: Asked): MessageCreateParamsNonStreaming {
  return {
    model,
    max_tokens: asked.maxTokens ?? 4096,
    messages,
    ...(asked.system !== undefined && { system: asked.system }),
    ...(asked.tools && {
      tools: asked.tools.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters as { type: 'object' } })),
    }),
    ...(asked.schema && { output_config: { format: { type: 'json_schema' as const, schema: asked.schema } } }),
    ...(asked.stop && { stop_sequences: asked.stop }),
    ...(asked.reasoning && { thinking: { type: 'enabled' as const, budget_tokens: 1024 } }),
  };
}

async function ask(client: Anthropic, params: MessageCreateParamsNonStreaming, { stream, signal, onFirst }: Reaction): Promise<Message> {
  if (!stream) return client.messages.create(params, { signal });
  const run = client.messages.stream(params, { signal });
  if (onFirst) run.once('streamEvent', onFirst);
  return run.finalMessage();
}

function said(reply: Message): Said {
  const { usage } = reply;
  return {
    text: reply.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    thinking: reply.content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    signatures: reply.content.flatMap((block) =>
      block.type === 'thinking' && block.signature ? [block.signature] : block.type === 'redacted_thinking' ? [block.data] : [],
    ),
    calls: reply.content.filter((block) => block.type === 'tool_use').map(({ id, name, input }) => ({ id, name, args: input })),
    stop: stops[reply.stop_reason ?? ''] ?? 'other',
    usage: {
      input: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
      output: usage.output_tokens,
    },
    model: reply.model,
  };
}
