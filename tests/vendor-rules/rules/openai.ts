/** OpenAI's chat completions. */
import { openaiChat, unknownKeys } from '../fields.ts';
import { first, isBlank, isGiven, list, objectOf, readDataUrl, textOf } from '../read.ts';
import type { VendorRule } from '../rule.ts';
import {
  bad,
  callsOf,
  chatCall,
  chatLoop,
  chatResult,
  chatTool,
  findArrayWithoutItems,
  findNotStrict,
  findUnpaired,
  functionsOf,
  hello,
  messagesOf,
  partsOf,
  picture,
  rootUnion,
  strictWeather,
  weather,
} from './kit.ts';

type Row = Omit<VendorRule, 'protocol' | 'vendors'>;
/** Models that think; their chat variants do not. */
const reasoning = /^(?:o\d|gpt-5(?!.*-chat)|gpt-[6-9]|codex)/;
/** Sampling is fixed where thinking cannot be switched off; from 5.1 on it is free while the effort is `none`. */
const alwaysThinks = /^(?:o\d|gpt-5(?:-(?!chat)|$))/;
/** Those for which temperature and effort exclude each other; the ones whose effort is `none` unless another is named, and those that always think. */
const thinksWithEffort = /^gpt-(?:5\.\d|[6-9])(?!.*-chat)/;
const plain = /^(?:gpt-3\.5|gpt-4|chatgpt)/;

const rows: Row[] = [
  {
    id: 'alpha.openai.unknown-field',
    what: 'Fields that the reference does not list are refused by name',
    source: 'https://github.com/nashsu/llm_wiki/issues/336',
    date: '2026-06-04',
    check({ body }) {
      const [key] = unknownKeys(body, openaiChat.request);
      return key === undefined ? null : bad(`Unrecognized request argument supplied: ${key}`);
    },
    refused: [{ body: { messages: hello, thinking: { type: 'enabled' } } }, { body: { messages: hello, top_k: 5 } }],
    accepted: [{ body: { messages: hello, user: 'u' } }],
  },
  {
    id: 'alpha.openai.role',
    what: 'Roles beyond the six that it knows',
    source: 'https://platform.openai.com/docs/api-reference/chat/create (messages)',
    date: '2026-05',
    wordsUnverified: true,
    check: ({ body }) =>
      first(messagesOf(body), ({ role }, at) =>
        openaiChat.roles.has(textOf(role))
          ? null
          : bad(`Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`, {
              param: `messages[${at}].role`,
              code: 'invalid_value',
            }),
      ),
    refused: [{ body: { messages: [{ role: 'model', content: 'hello' }] } }],
    accepted: [{ body: { messages: [{ role: 'developer', content: 'short' }, ...hello] } }],
  },
  {
    id: 'alpha.openai.unanswered-call',
    what: 'A call of a tool without its result, directly after the turn that called',
    source: 'https://github.com/RamiAwar/dataline/issues/172',
    date: '2024-05-31',
    check({ body }) {
      const found = findUnpaired(messagesOf(body));
      if (found?.kind !== 'unanswered') return null;
      return bad(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${found.ids.join(', ')}`,
        { param: `messages.[${found.at}].role` },
      );
    },
    refused: [
      { body: { messages: chatLoop().slice(0, 2) } },
      { body: { messages: [...hello, { role: 'assistant', tool_calls: [chatCall('a'), chatCall('b')] }, chatResult('a'), ...hello] } },
    ],
    accepted: [{ body: { messages: chatLoop() } }],
  },
  {
    id: 'alpha.openai.orphan-result',
    what: 'A result without a call in front of it',
    source: 'https://github.com/dimagi/open-chat-studio/issues/1659',
    date: '2025-05-29',
    check({ body }) {
      const found = findUnpaired(messagesOf(body));
      if (found?.kind !== 'orphan' && found?.kind !== 'doubled result') return null;
      return bad("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", {
        param: `messages.[${found.at}].role`,
      });
    },
    refused: [{ body: { messages: [...hello, chatResult()] } }, { body: { messages: [...chatLoop(), chatResult()] } }],
    accepted: [{ body: { messages: [...chatLoop(), { role: 'assistant', content: 'It is sunny.' }, ...hello] } }],
  },
  {
    id: 'alpha.openai.call-id-length',
    what: 'Ids of calls past 64 characters',
    source: 'https://github.com/openclaw/openclaw/pull/875',
    date: '2026-01-13',
    check: ({ body }) =>
      first(messagesOf(body), (message, at) =>
        first(callsOf(message), ({ id }, index) => {
          const { length } = textOf(id);
          if (length <= 64) return null;
          return bad(
            `Invalid 'messages[${at}].tool_calls[${index}].id': string too long. Expected a string with maximum length 64, but got a string with length ${length} instead.`,
            { param: `messages[${at}].tool_calls[${index}].id`, code: 'string_above_max_length' },
          );
        }),
      ),
    refused: [{ body: { messages: chatLoop(`call_${'x'.repeat(70)}`) } }],
    accepted: [{ body: { messages: chatLoop(`call_${'x'.repeat(30)}`) } }],
  },
  {
    id: 'alpha.openai.function-name',
    what: 'Names of functions past 64 characters, or with others than letters, digits, _ and -',
    source: 'https://github.com/run-llama/llama_index/issues/16093',
    date: '2024-09-19',
    check: ({ body }) =>
      first(functionsOf(body), ({ at, spec }) => {
        const name = textOf(spec['name']);
        const param = `tools[${at}].function.name`;
        if (name.length > 64)
          return bad(`Invalid '${param}': string too long. Expected a string with maximum length 64, but got a string with length ${name.length} instead.`, {
            param,
            code: 'string_above_max_length',
          });
        return /^[a-zA-Z0-9_-]+$/.test(name)
          ? null
          : bad(`Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`, {
              param,
              code: 'invalid_value',
            });
      }),
    refused: [
      { body: { messages: hello, tools: [chatTool(weather, 'get weather')] } },
      { body: { messages: hello, tools: [chatTool(weather, 'x'.repeat(65))] } },
    ],
    accepted: [{ body: { messages: hello, tools: [chatTool(weather, 'x'.repeat(64))] } }],
  },
  {
    id: 'alpha.openai.schema-root',
    what: "A tool's schema whose root is no plain object, or is a union",
    source: 'https://github.com/anomalyco/opencode/issues/37916',
    date: '2026-07-20',
    check: ({ body }) =>
      first(functionsOf(body), ({ at, spec }) => {
        const schema = spec['parameters'];
        if (!isGiven(schema) || Object.keys(objectOf(schema)).length === 0) return null;
        const more = { param: `tools[${at}].function.parameters`, code: 'invalid_function_parameters' };
        if (objectOf(schema)['type'] !== 'object')
          return bad(
            `Invalid schema for function '${spec['name']}': schema must be a JSON Schema of 'type: "object"', got 'type: "${objectOf(schema)['type'] ?? 'None'}"'.`,
            more,
          );
        return rootUnion(schema) === null
          ? null
          : bad(
              `Invalid schema for function '${spec['name']}': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.`,
              more,
            );
      }),
    refused: [
      { body: { messages: hello, tools: [chatTool({ ...weather, anyOf: [{ required: ['city'] }] })] } },
      { body: { messages: hello, tools: [chatTool({ type: 'string' })] } },
    ],
    accepted: [{ body: { messages: hello, tools: [chatTool({ type: 'object', properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } } })] } }],
  },
  {
    id: 'alpha.openai.strict-tool',
    what: 'Strict functions whose objects allow other properties, or do not require all of theirs',
    source: 'https://github.com/ash-project/ash_ai/issues/155',
    date: '2025-12-21',
    check: ({ body }) =>
      first(functionsOf(body), ({ at, spec }) => {
        const fault = spec['strict'] === true ? findNotStrict(spec['parameters']) : null;
        return fault === null ? null : bad(`Invalid schema for function '${spec['name']}': ${fault}`, { param: `tools[${at}].function.parameters` });
      }),
    refused: [{ body: { messages: hello, tools: [{ type: 'function', function: { name: 'weather', strict: true, parameters: weather } }] } }],
    accepted: [
      { body: { messages: hello, tools: [{ type: 'function', function: { name: 'weather', strict: true, parameters: strictWeather } }] } },
      { body: { messages: hello, tools: [chatTool()] } },
    ],
  },
  {
    id: 'alpha.openai.strict-format',
    what: 'A strict schema of the reply whose objects allow other properties, or do not require all of theirs',
    source: 'https://github.com/moeru-ai/xsai/issues/145',
    date: '2025-05-05',
    check({ body }) {
      const format = objectOf(objectOf(body['response_format'])['json_schema']);
      const fault = format['strict'] === true ? findNotStrict(format['schema']) : null;
      return fault === null ? null : bad(`Invalid schema for response_format '${format['name']}': ${fault}`, { param: 'response_format' });
    },
    refused: [{ body: { messages: hello, response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema: weather } } } }],
    accepted: [
      { body: { messages: hello, response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema: strictWeather } } } },
      { body: { messages: hello, response_format: { type: 'json_schema', json_schema: { name: 'x', schema: weather } } } },
    ],
  },
  {
    id: 'alpha.openai.array-items',
    what: "Arrays in a tool's schema that do not say what they hold",
    source: 'https://github.com/streamnative/streamnative-mcp-server/issues/26',
    date: '2025-05-13',
    check: ({ body }) =>
      first(functionsOf(body), ({ at, spec }) => {
        const path = findArrayWithoutItems(spec['parameters']);
        if (path === null) return null;
        return bad(`Invalid schema for function '${spec['name']}': In context=(${path.map((key) => `'${key}'`).join(', ')}), array schema missing items.`, {
          param: `tools[${at}].function.parameters`,
          code: 'invalid_function_parameters',
        });
      }),
    refused: [{ body: { messages: hello, tools: [chatTool({ type: 'object', properties: { all: { type: 'array' } } })] } }],
    accepted: [{ body: { messages: hello, tools: [chatTool({ type: 'object', properties: { all: { type: 'array', items: {} } } })] } }],
  },
  {
    id: 'alpha.openai.image-role',
    what: 'Pictures anywhere but in a user turn',
    source: 'https://github.com/dreadnode/rigging/issues/41',
    date: '2025-02-18',
    check: ({ body }) =>
      first(messagesOf(body), (message, at) =>
        message['role'] !== 'user' && partsOf(message).some(({ type }) => type === 'image_url')
          ? bad(
              `Invalid 'messages[${at}]'. Image URLs are only allowed for messages with role 'user', but this message with role '${message['role']}' contains an image URL.`,
              { param: `messages[${at}]`, code: 'invalid_value' },
            )
          : null,
      ),
    refused: [{ body: { messages: [...chatLoop().slice(0, 2), chatResult('call_1', [picture()])] } }],
    accepted: [{ body: { messages: [{ role: 'user', content: [{ type: 'text', text: 'what is it?' }, picture()] }] } }],
  },
  {
    id: 'alpha.openai.image-type',
    what: 'Pictures of other types than PNG, JPEG, GIF and WebP',
    source: 'https://github.com/STranslate/STranslate/issues/277',
    date: '2024-12-09',
    check: ({ body }) =>
      first(messagesOf(body), (message) =>
        first(partsOf(message), (part) => {
          const read = part['type'] === 'image_url' ? readDataUrl(objectOf(part['image_url'])['url']) : null;
          return read === null || /^image\/(?:png|jpe?g|gif|webp)$/.test(read.type)
            ? null
            : bad("You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].", {
                code: 'invalid_image_format',
              });
        }),
      ),
    refused: [{ body: { messages: [{ role: 'user', content: [picture('image/svg+xml')] }] } }],
    accepted: [{ body: { messages: [{ role: 'user', content: [picture('image/jpg')] }] } }],
  },
  {
    id: 'alpha.openai.empty-messages',
    what: 'A conversation without a message',
    source: 'https://github.com/CopilotKit/CopilotKit/issues/529',
    date: '2024-08-11',
    check: ({ body }) =>
      list(body['messages']).length > 0
        ? null
        : bad("Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.", {
            param: 'messages',
            code: 'empty_array',
          }),
    refused: [{ body: { messages: [] } }],
    accepted: [{ body: { messages: hello } }],
  },
  {
    id: 'alpha.openai.null-content',
    what: 'Messages without content, but for assistant turns that call',
    source: 'https://github.com/docker/docker-agent/issues/63',
    date: '2025-07-23',
    check: ({ body }) =>
      first(messagesOf(body), (message, at) =>
        isGiven(message['content']) ||
        callsOf(message).length > 0 ||
        isGiven(message['function_call']) ||
        isGiven(message['refusal']) ||
        isGiven(message['audio'])
          ? null
          : bad("Invalid value for 'content': expected a string, got null.", { param: `messages.[${at}].content` }),
      ),
    refused: [{ body: { messages: [{ role: 'user', content: null }] } }, { body: { messages: [...hello, { role: 'assistant' }] } }],
    accepted: [{ body: { messages: chatLoop() } }],
  },
  {
    id: 'alpha.openai.max-tokens',
    models: reasoning,
    what: 'max_tokens, at models that think',
    source: 'https://github.com/mem0ai/mem0/issues/3282',
    date: '2025-08-06',
    check: ({ body }) =>
      isGiven(body['max_tokens'])
        ? bad("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", {
            param: 'max_tokens',
            code: 'unsupported_parameter',
          })
        : null,
    refused: [{ modelId: 'gpt-5-mini', body: { messages: hello, max_tokens: 100 } }],
    accepted: [
      { modelId: 'gpt-5-mini', body: { messages: hello, max_completion_tokens: 100 } },
      { modelId: 'gpt-4o', body: { messages: hello, max_tokens: 100 } },
    ],
  },
  {
    id: 'alpha.openai.effort',
    models: plain,
    what: 'reasoning_effort, at models that do not think',
    source: 'https://github.com/davidmigloz/langchain_dart/issues/712',
    date: '2025-06-04',
    check: ({ body }) => (isGiven(body['reasoning_effort']) ? bad('Unrecognized request argument supplied: reasoning_effort') : null),
    refused: [{ modelId: 'gpt-4o-mini', body: { messages: hello, reasoning_effort: 'low' } }],
    accepted: [{ modelId: 'gpt-5', body: { messages: hello, reasoning_effort: 'low' } }],
  },
  {
    id: 'alpha.openai.effort-temperature',
    models: thinksWithEffort,
    what: 'temperature, top_p and log probabilities beside an effort other than none, from 5.1 on',
    source: 'https://platform.openai.com/docs/guides/latest-model (GPT-5 parameter compatibility)',
    date: '2026-02',
    wordsUnverified: true,
    check({ body }) {
      const { reasoning_effort: effort } = body;
      if (!isGiven(effort) || effort === 'none') return null;
      const usual: Readonly<Record<string, unknown>> = { temperature: 1, top_p: 1, logprobs: false };
      return first(Object.entries(usual), ([key, value]) =>
        isGiven(body[key]) && body[key] !== value
          ? bad(`Unsupported value: '${key}' does not support ${body[key]} with this model. Only the default (${value}) value is supported.`, {
              param: key,
              code: 'unsupported_value',
            })
          : null,
      );
    },
    refused: [
      { modelId: 'gpt-5.2', body: { messages: hello, temperature: 0.2, reasoning_effort: 'low' } },
      { modelId: 'gpt-5.1', body: { messages: hello, top_p: 0.5, reasoning_effort: 'high' } },
    ],
    accepted: [
      { modelId: 'gpt-5.2', body: { messages: hello, temperature: 0.2, reasoning_effort: 'none' } },
      { modelId: 'gpt-5.2', body: { messages: hello, temperature: 0.2 } },
    ],
  },
  {
    id: 'alpha.openai.temperature',
    models: alwaysThinks,
    what: 'Any temperature but the default, at models that always think',
    source: 'https://github.com/QwenLM/qwen-code/issues/921',
    date: '2025-10-29',
    check: ({ body }) =>
      isGiven(body['temperature']) && body['temperature'] !== 1
        ? bad(`Unsupported value: 'temperature' does not support ${body['temperature']} with this model. Only the default (1) value is supported.`, {
            param: 'temperature',
            code: 'unsupported_value',
          })
        : null,
    refused: [{ modelId: 'o3', body: { messages: hello, temperature: 0.2 } }],
    accepted: [
      { modelId: 'o3', body: { messages: hello, temperature: 1 } },
      { modelId: 'gpt-4o', body: { messages: hello, temperature: 0.2 } },
    ],
  },
  {
    id: 'alpha.openai.system-role',
    models: /^o1-(?:mini|preview)/,
    what: 'Role system, at the first models that thought',
    source: 'recorded: alpha/err-400-unsupported',
    date: '2025',
    check: ({ body }) =>
      first(messagesOf(body), ({ role }, at) =>
        role === 'system'
          ? bad(`Unsupported value: 'messages[${at}].role' does not support 'system' with this model.`, {
              param: `messages[${at}].role`,
              code: 'unsupported_value',
            })
          : null,
      ),
    refused: [{ modelId: 'o1-mini', body: { messages: [{ role: 'system', content: 'short' }, ...hello] } }],
    accepted: [{ modelId: 'o3', body: { messages: [{ role: 'system', content: 'short' }, ...hello] } }],
  },
  {
    id: 'alpha.openai.stream-options',
    what: 'stream_options without stream',
    source: 'https://github.com/BerriAI/litellm/issues/5803',
    date: '2024-09-20',
    check: ({ body }) =>
      isGiven(body['stream_options']) && body['stream'] !== true
        ? bad("The 'stream_options' parameter is only allowed when 'stream' is enabled.", { param: 'stream_options' })
        : null,
    refused: [{ body: { messages: hello, stream_options: { include_usage: true } } }],
    accepted: [{ body: { messages: hello, stream: true, stream_options: { include_usage: true } } }],
  },
  {
    id: 'alpha.openai.tool-choice',
    what: 'tool_choice or parallel_tool_calls without tools',
    source: 'https://github.com/camel-ai/camel/pull/3706',
    date: '2026-01-17',
    check({ body }) {
      if (list(body['tools']).length > 0 || isGiven(body['functions'])) return null;
      const key = ['tool_choice', 'parallel_tool_calls'].find((one) => isGiven(body[one]));
      return key === undefined ? null : bad(`Invalid value for '${key}': '${key}' is only allowed when 'tools' are specified.`, { param: key });
    },
    refused: [{ body: { messages: hello, tool_choice: 'auto' } }, { body: { messages: hello, parallel_tool_calls: false } }],
    accepted: [{ body: { messages: hello, tools: [chatTool()], tool_choice: 'auto', parallel_tool_calls: false } }],
  },
  {
    id: 'alpha.openai.json-word',
    what: 'JSON mode in a conversation that does not speak of JSON',
    source: 'https://github.com/mem0ai/mem0/issues/3559',
    date: '2025-10-09',
    check: ({ body }) =>
      objectOf(body['response_format'])['type'] === 'json_object' && !/json/i.test(JSON.stringify(body['messages'] ?? ''))
        ? bad("'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.", { param: 'messages' })
        : null,
    refused: [{ body: { messages: hello, response_format: { type: 'json_object' } } }],
    accepted: [{ body: { messages: [{ role: 'user', content: 'a color, as JSON' }], response_format: { type: 'json_object' } } }],
  },
  {
    id: 'alpha.openai.call-name',
    what: 'A call in the history without a name',
    source: 'https://github.com/continuedev/continue/issues/5091',
    date: '2025-04-10',
    check: ({ body }) =>
      first(messagesOf(body), (message, at) =>
        first(callsOf(message), (call, index) =>
          call['type'] === 'custom' || !isBlank(objectOf(call['function'])['name'])
            ? null
            : bad(
                `Invalid 'messages[${at}].tool_calls[${index}].function.name': empty string. Expected a string with minimum length 1, but got an empty string instead.`,
                {
                  param: `messages[${at}].tool_calls[${index}].function.name`,
                  code: 'empty_string',
                },
              ),
        ),
      ),
    refused: [{ body: { messages: [...hello, { role: 'assistant', content: null, tool_calls: [chatCall('call_1', '')] }, chatResult()] } }],
    accepted: [{ body: { messages: chatLoop() } }],
  },
];

export const openaiRules: VendorRule[] = rows.map((row) => ({ ...row, protocol: 'alpha', vendors: ['openai'] }));
