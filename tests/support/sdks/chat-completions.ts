/** Chat completions through the `openai` SDK. */
import OpenAI from 'openai';
import type { ChatCompletion, ChatCompletionCreateParams, ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { Asked, Reaction, Said, SdkChat, SdkOptions, Stop } from './sdk-chat.ts';

export const openaiClient = ({ url, key }: SdkOptions): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });

const stops: Record<string, Stop> = { stop: 'stop', length: 'length', tool_calls: 'tools' };

export function startChatCompletions(options: SdkOptions, model: string, asked: Asked): SdkChat {
  const client = openaiClient(options);
  const messages: ChatCompletionMessageParam[] = [
    ...(asked.system === undefined ? [] : [{ role: 'system' as const, content: asked.system }]),
    {
      role: 'user',
      content:
        asked.image === undefined
          ? asked.text
          : [
              { type: 'text', text: asked.text },
              { type: 'image_url', image_url: { url: `data:image/png;base64,${asked.image}` } },
            ],
    },
  ];
  return {
    async send(reaction) {
      const reply = await ask(client, body(reaction.model ?? model, messages, asked), reaction);
      const message = reply.choices[0]!.message;
      messages.push(message as ChatCompletionMessageParam);
      return said(reply);
    },
    answer: (results) => void messages.push(...results.map(({ id, output }) => ({ role: 'tool' as const, tool_call_id: id, content: output }))),
    say: (text) => void messages.push({ role: 'user', content: text }),
  };
}

function body(model: string, messages: ChatCompletionMessageParam[], asked: Asked): ChatCompletionCreateParams {
  return {
    model,
    messages,
    ...(asked.tools && { tools: asked.tools.map((tool) => ({ type: 'function' as const, function: tool })) }),
    ...(asked.schema && { response_format: { type: 'json_schema' as const, json_schema: { name: 'reply', schema: asked.schema, strict: true } } }),
    ...(asked.stop && { stop: asked.stop }),
    ...(asked.maxTokens !== undefined && { max_completion_tokens: asked.maxTokens }),
    ...(asked.reasoning && { reasoning_effort: 'low' as const }),
  };
}

async function ask(client: OpenAI, params: ChatCompletionCreateParams, { stream, signal, onFirst }: Reaction): Promise<ChatCompletion> {
  if (!stream) return client.chat.completions.create({ ...params, stream: false }, { signal });
  const run = client.chat.completions.stream({ ...params, stream: true, stream_options: { include_usage: true } }, { signal });
  if (onFirst) run.once('chunk', onFirst);
  return run.finalChatCompletion();
}

/** Fields that some upstreams add and the SDK's types do not name. */
interface More {
  reasoning_content?: string;
  reasoning_details?: { text?: string; signature?: string; data?: string }[];
}

function said(reply: ChatCompletion): Said {
  const { message, finish_reason } = reply.choices[0]!;
  const more = message as unknown as More;
  const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
  const onCalls = calls.map((call) => (call as { extra_content?: { google?: { thought_signature?: string } } }).extra_content?.google?.thought_signature);
  return {
    text: message.content ?? '',
    thinking: more.reasoning_content ?? '',
    signatures: [...(more.reasoning_details ?? []).map((detail) => detail.signature ?? detail.data), ...onCalls].filter((one) => one !== undefined),
    calls: calls.map((call) => ({ id: call.id, name: call.function.name, args: JSON.parse(call.function.arguments || '{}') })),
    stop: stops[finish_reason] ?? 'other',
    usage: { input: reply.usage?.prompt_tokens ?? -1, output: reply.usage?.completion_tokens ?? -1 },
    model: reply.model,
  };
}
