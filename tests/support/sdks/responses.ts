/** Responses through the `openai` SDK. */
import type OpenAI from 'openai';
import type { Response, ResponseCreateParams, ResponseInputItem } from 'openai/resources/responses/responses';
import { openaiClient } from './chat-completions.ts';
import type { Asked, Reaction, Said, SdkChat, SdkOptions, Stop } from './sdk-chat.ts';

export function startResponses(options: SdkOptions, model: string, asked: Asked): SdkChat {
  const client = openaiClient(options);
  const input: ResponseInputItem[] = [
    {
      role: 'user',
      content:
        asked.image === undefined
          ? asked.text
          : [
              { type: 'input_text', text: asked.text },
              { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${asked.image}` },
            ],
    },
  ];
  return {
    async send(reaction) {
      const reply = await ask(client, body(reaction.model ?? model, input, asked), reaction);
      input.push(...reply.output.map(asInput));
      return said(reply);
    },
    answer: (results) => void input.push(...results.map(({ id, output }) => ({ type: 'function_call_output' as const, call_id: id, output }))),
    say: (text) => void input.push({ role: 'user', content: text }),
  };
}

/** The SDK's stream adds what it read out of texts and arguments; the vendor refuses both when they come back. */
function asInput(item: Response['output'][number]): ResponseInputItem {
  const { parsed_arguments: _arguments, content, ...rest } = item as { parsed_arguments?: unknown; content?: unknown };
  const parts = Array.isArray(content) ? { content: content.map(({ parsed: _parsed, ...part }) => part) } : content === undefined ? {} : { content };
  return { ...rest, ...parts } as ResponseInputItem;
}

function body(model: string, input: ResponseInputItem[], asked: Asked): ResponseCreateParams {
  return {
    model,
    input,
    store: false,
    ...(asked.system !== undefined && { instructions: asked.system }),
    ...(asked.tools && { tools: asked.tools.map((tool) => ({ type: 'function' as const, strict: false, ...tool })) }),
    ...(asked.schema && { text: { format: { type: 'json_schema' as const, name: 'reply', schema: asked.schema, strict: true } } }),
    ...(asked.maxTokens !== undefined && { max_output_tokens: asked.maxTokens }),
    ...(asked.reasoning && { reasoning: { effort: 'low' as const, summary: 'auto' as const }, include: ['reasoning.encrypted_content' as const] }),
  };
}

async function ask(client: OpenAI, params: ResponseCreateParams, { stream, signal, onFirst }: Reaction): Promise<Response> {
  if (!stream) return client.responses.create({ ...params, stream: false }, { signal });
  const run = client.responses.stream({ ...params, stream: true } as Parameters<typeof client.responses.stream>[0], { signal });
  if (onFirst) run.once('event', onFirst);
  return run.finalResponse() as unknown as Promise<Response>;
}

function stopOf(reply: Response): Stop {
  if (reply.status === 'incomplete') return reply.incomplete_details?.reason === 'max_output_tokens' ? 'length' : 'other';
  if (reply.status !== 'completed') return 'other';
  return reply.output.some((item) => item.type === 'function_call') ? 'tools' : 'stop';
}

function said(reply: Response): Said {
  const reasoning = reply.output.filter((item) => item.type === 'reasoning');
  return {
    text: reply.output_text,
    thinking: reasoning.flatMap((item) => [...(item.summary ?? []), ...(item.content ?? [])].map((part) => part.text)).join(''),
    signatures: reasoning.flatMap((item) => (item.encrypted_content ? [item.encrypted_content] : [])),
    calls: reply.output
      .filter((item) => item.type === 'function_call')
      .map((item) => ({ id: item.call_id, name: item.name, args: JSON.parse(item.arguments || '{}') })),
    stop: stopOf(reply),
    usage: { input: reply.usage?.input_tokens ?? -1, output: reply.usage?.output_tokens ?? -1 },
    model: reply.model,
  };
}
