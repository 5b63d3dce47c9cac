/** What an upstream was asked, read from its own protocol's body without any of the gateway's code. */
import type { UpstreamProtocol } from './sdk-callers.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are read freely; a wrong guess shows as a failed comparison.
type Json = any;

export interface ReceivedRequest {
  system: string;
  /** Texts of user turns, in order. */
  user: string[];
  tools: string[];
  /** Base64 of inline images. */
  images: string[];
  /** Names of the properties of the asked schema. */
  schema: string[];
  stop: string[];
  maxTokens: number | undefined;
  /** Tool calls in the history and the results that answer them, paired as the protocol pairs them. */
  answered: { name: string; result: string }[];
}

const list = (value: Json): Json[] => (Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]);
const textOf = (content: Json): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .map((part) => part.text ?? '')
        .join('');
const propertiesOf = (schema: Json): string[] => Object.keys(schema?.properties ?? {});
const dataOf = (url: string): string[] => (url.startsWith('data:') ? [url.slice(url.indexOf(',') + 1)] : []);

export const readReceived = (protocol: UpstreamProtocol, body: Json): ReceivedRequest => readers[protocol](body);

const readers: Record<UpstreamProtocol, (body: Json) => ReceivedRequest> = {
  alpha(body) {
    const messages: Json[] = body.messages;
    const calls: Json[] = messages.flatMap((message) => list(message.tool_calls));
    return {
      system: messages
        .filter((one) => one.role === 'system' || one.role === 'developer')
        .map((one) => textOf(one.content))
        .join('\n'),
      user: messages.filter((one) => one.role === 'user').map((one) => textOf(one.content)),
      tools: list(body.tools).map((tool) => tool.function.name),
      images: messages
        .flatMap((one) => (Array.isArray(one.content) ? one.content : []))
        .flatMap((part: Json) => (part.image_url ? dataOf(part.image_url.url) : [])),
      schema: propertiesOf(body.response_format?.json_schema?.schema),
      stop: list(body.stop),
      maxTokens: body.max_completion_tokens ?? body.max_tokens,
      answered: messages
        .filter((one) => one.role === 'tool')
        .map((one) => ({ name: calls.find((call) => call.id === one.tool_call_id)?.function.name, result: textOf(one.content) })),
    };
  },
  alpha_response(body) {
    const items: Json[] = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input;
    const calls = items.filter((item) => item.type === 'function_call');
    const roleOf = (...roles: string[]) => items.filter((item) => roles.includes(item.role)).map((item) => textOf(item.content));
    return {
      system: [body.instructions, ...roleOf('system', 'developer')].filter(Boolean).join('\n'),
      user: roleOf('user'),
      tools: list(body.tools).map((tool) => tool.name),
      images: items
        .flatMap((item) => (Array.isArray(item.content) ? item.content : []))
        .flatMap((part: Json) => (part.image_url ? dataOf(part.image_url) : [])),
      schema: propertiesOf(body.text?.format?.schema),
      stop: [],
      maxTokens: body.max_output_tokens,
      answered: items
        .filter((item) => item.type === 'function_call_output')
        .map((item) => ({ name: calls.find((call) => call.call_id === item.call_id)?.name, result: textOf(item.output) })),
    };
  },
  beta(body) {
    const blocks: (Json & { role: string })[] = body.messages.flatMap((message: Json) =>
      (typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content).map((block: Json) => ({
        ...block,
        role: message.role,
      })),
    );
    return {
      system: textOf(body.system),
      user: blocks.filter((block) => block.role === 'user' && block.type === 'text').map((block) => block.text),
      tools: list(body.tools).map((tool) => tool.name),
      images: blocks.flatMap((block) => (block.type === 'image' && block.source.data ? [block.source.data] : [])),
      schema: propertiesOf(body.output_config?.format?.schema),
      stop: list(body.stop_sequences),
      maxTokens: body.max_tokens,
      answered: blocks
        .filter((block) => block.type === 'tool_result')
        .map((block) => ({ name: blocks.find((one) => one.type === 'tool_use' && one.id === block.tool_use_id)?.name, result: textOf(block.content) })),
    };
  },
  gamma(body) {
    const parts: (Json & { role: string })[] = body.contents.flatMap((content: Json) => content.parts.map((part: Json) => ({ ...part, role: content.role })));
    const settings = body.generationConfig ?? {};
    return {
      system: textOf(body.systemInstruction?.parts),
      user: parts.filter((part) => part.role === 'user' && part.text !== undefined).map((part) => part.text),
      tools: list(body.tools).flatMap((tool) => list(tool.functionDeclarations).map((one) => one.name)),
      images: parts.flatMap((part) => part.inlineData?.data ?? []),
      schema: propertiesOf(settings.responseSchema ?? settings.responseJsonSchema),
      stop: list(settings.stopSequences),
      maxTokens: settings.maxOutputTokens,
      answered: parts.flatMap((part) => {
        const { name, response } = part.functionResponse ?? {};
        return name === undefined ? [] : [{ name, result: String(response.output ?? response.result ?? response.content ?? JSON.stringify(response)) }];
      }),
    };
  },
  cloudhost_converse(body) {
    const blocks: (Json & { role: string })[] = body.messages.flatMap((message: Json) =>
      message.content.map((block: Json) => ({ ...block, role: message.role })),
    );
    return {
      system: textOf(body.system),
      user: blocks.filter((block) => block.role === 'user' && block.text !== undefined).map((block) => block.text),
      tools: list(body.toolConfig?.tools).map((tool) => tool.toolSpec.name),
      images: blocks.flatMap((block) => block.image?.source.bytes ?? []),
      schema: propertiesOf(JSON.parse(body.outputConfig?.textFormat?.structure.jsonSchema.schema ?? '{}')),
      stop: list(body.inferenceConfig?.stopSequences),
      maxTokens: body.inferenceConfig?.maxTokens,
      answered: blocks.flatMap(({ toolResult }) =>
        toolResult === undefined
          ? []
          : [
              {
                name: blocks.find((one) => one.toolUse?.toolUseId === toolResult.toolUseId)?.toolUse.name,
                result: toolResult.content.map((part: Json) => part.text ?? JSON.stringify(part.json ?? '')).join(''),
              },
            ],
      ),
    };
  },
  cloudhost_invoke: (body) => readers.beta(body),
};
