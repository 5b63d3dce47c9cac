/** Bedrock's Converse, as it is in front of every model, and what Claude behind it refuses. */
import { converse as fields, unknownKeys } from '../fields.ts';
import { first, isBlank, isGiven, isObject, type Json, list, objectOf, textOf } from '../read.ts';
import type { VendorRule } from '../rule.ts';
import { bad, pixel, rootUnion, weather } from './kit.ts';

type Row = Omit<VendorRule, 'protocol'>;
/** Counting holds the request that it counts. */
const requestOf = (body: Json): Json => {
  const counted = objectOf(body['input'])['converse'];
  return isObject(counted) ? counted : body;
};
const turnsOf = (body: Json): { role: string; blocks: Json[] }[] =>
  list(requestOf(body)['messages']).map(({ role, content }) => ({ role: textOf(role), blocks: list(content) }));
const usesOf = (blocks: readonly Json[]): Json[] => blocks.flatMap((block) => (isObject(block['toolUse']) ? [block['toolUse']] : []));
const resultsOf = (blocks: readonly Json[]): Json[] => blocks.flatMap((block) => (isObject(block['toolResult']) ? [block['toolResult']] : []));
const specsOf = (body: Json): { at: number; spec: Json }[] =>
  list(objectOf(requestOf(body)['toolConfig'])['tools']).flatMap((tool, at) => (isObject(tool['toolSpec']) ? [{ at, spec: tool['toolSpec'] }] : []));
const refused = (message: string): string => `The model returned the following errors: ${message}`;
const pattern = (value: string, where: string, rule: string): string =>
  `1 validation error detected: Value '${value}' at '${where}' failed to satisfy constraint: Member must satisfy regular expression pattern: ${rule}`;
const claude = /^(?:claude|$)/;

const text = (value: string): Json => ({ text: value });
const hello: Json[] = [{ role: 'user', content: [text('hello')] }];
const use = (toolUseId = 'tooluse_1', name = 'weather'): Json => ({ toolUse: { toolUseId, name, input: { city: 'Paris' } } });
const result = (toolUseId = 'tooluse_1'): Json => ({ toolResult: { toolUseId, content: [text('sunny')] } });
const toolConfig = { tools: [{ toolSpec: { name: 'weather', inputSchema: { json: weather } } }] };
const loop = (before: Json[] = [], id = 'tooluse_1'): Json[] => [
  ...hello,
  { role: 'assistant', content: [...before, use(id)] },
  { role: 'user', content: [result(id)] },
];
const documents = (name: string): Json => ({ document: { name, format: 'txt', source: { bytes: 'aGVsbG8=' } } });
const citing: Json = { document: { name: 'notes', format: 'txt', source: { text: 'hello' }, citations: { enabled: true } } };
/** Those in results of tools, too. */
const documentsOf = (blocks: readonly Json[]): Json[] =>
  [...blocks, ...resultsOf(blocks).flatMap(({ content }) => list(content))].flatMap((block) => (isObject(block['document']) ? [block['document']] : []));

const effort = (maxReasoningEffort: string): Json => ({ reasoningConfig: { type: 'enabled', maxReasoningEffort } });

const rows: Row[] = [
  {
    id: 'cloudhost_converse.unknown-field',
    what: 'Fields that the service model does not list',
    source: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html',
    date: '2026-05',
    wordsUnverified: true,
    check: ({ body }) =>
      first(unknownKeys(requestOf(body), fields.request), (key) => bad(`${key}: Extra inputs are not permitted`)) ??
      first(unknownKeys(objectOf(requestOf(body)['inferenceConfig']), fields.inferenceConfig), (key) =>
        bad(`inferenceConfig.${key}: Extra inputs are not permitted`),
      ),
    refused: [{ body: { messages: hello, temperature: 1 } }, { body: { messages: hello, inferenceConfig: { topK: 5 } } }],
    accepted: [{ body: { messages: hello, inferenceConfig: { topP: 0.5 } } }],
  },
  {
    id: 'cloudhost_converse.role-order',
    // Titan was recorded to take two user turns in a row (cloudhost_converse/guardrail-stream).
    models: /^(?!titan)/,
    what: 'Turns that do not alternate, or do not begin with the user',
    source: 'https://github.com/langchain-ai/langchain-aws/issues/130',
    date: '2024-08-01',
    check: ({ body }) =>
      first(turnsOf(body), ({ role }, at) => {
        if (at === 0 && role !== 'user')
          return bad('A conversation must start with a user message. Try again with a conversation that starts with a user message.');
        return at > 0 && role === turnsOf(body)[at - 1]?.role
          ? bad(
              `A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.`,
            )
          : null;
      }),
    refused: [{ body: { messages: [...hello, ...hello] } }, { body: { messages: [{ role: 'assistant', content: [text('hi')] }, ...hello] } }],
    accepted: [{ body: { messages: [...hello, { role: 'assistant', content: [text('hi')] }, ...hello] } }],
  },
  {
    id: 'cloudhost_converse.empty-content',
    what: 'Turns without content, and blank texts',
    source: 'https://github.com/NousResearch/hermes-agent/issues/55092',
    date: '2026-06-29',
    check: ({ body }) =>
      first(turnsOf(body), ({ blocks }, at) => {
        if (blocks.length === 0)
          return bad(`The content field in the Message object at messages.${at} is empty. Add a ContentBlock object to the content field and try again.`);
        return first(blocks, (block, index) =>
          // White space alone was recorded to pass beside other blocks (cloudhost_converse/cache-write-read).
          'text' in block && (block['text'] === '' || (isBlank(block['text']) && blocks.length === 1))
            ? bad(`The text field in the ContentBlock object at messages.${at}.content.${index} is blank. Add text to the text field, and try again.`)
            : null,
        );
      }),
    refused: [{ body: { messages: [{ role: 'user', content: [] }] } }, { body: { messages: [{ role: 'user', content: [text(' ')] }] } }],
    accepted: [{ body: { messages: hello } }],
  },
  {
    id: 'cloudhost_converse.tool-config',
    what: 'Calls or results in the history without toolConfig',
    source: 'https://github.com/vxcontrol/pentagi/pull/196',
    date: '2026-03-11',
    check: ({ body }) =>
      turnsOf(body).some(({ blocks }) => usesOf(blocks).length + resultsOf(blocks).length > 0) && specsOf(body).length === 0
        ? bad('The toolConfig field must be defined when using toolUse and toolResult content blocks.')
        : null,
    refused: [{ body: { messages: loop() } }],
    accepted: [{ body: { messages: loop(), toolConfig } }],
  },
  {
    id: 'cloudhost_converse.call-count',
    what: 'Calls without their results in the very next turn, and results beyond the calls',
    source: 'https://github.com/agno-agi/agno/issues/6698',
    date: '2026-02-24',
    check({ body }) {
      const turns = turnsOf(body);
      return first(turns, ({ blocks, role }, at) => {
        const called = new Set(usesOf(turns[at - 1]?.blocks ?? []).map(({ toolUseId }) => textOf(toolUseId)));
        const answered = resultsOf(blocks).map(({ toolUseId }) => textOf(toolUseId));
        if (answered.length > called.size)
          return bad(`The number of toolResult blocks at messages.${at}.content exceeds the number of toolUse blocks of previous turn.`);
        const missing = [...called].filter((id) => !answered.includes(id));
        if (missing.length > 0) return bad(`Expected toolResult blocks at messages.${at}.content for the following Ids: ${missing.join(', ')}`);
        return role === 'assistant' && usesOf(blocks).length > 0 && at === turns.length - 1
          ? bad(
              `Expected toolResult blocks at messages.${at + 1}.content for the following Ids: ${usesOf(blocks)
                .map(({ toolUseId }) => toolUseId)
                .join(', ')}`,
            )
          : null;
      });
    },
    refused: [
      { body: { messages: [...loop().slice(0, 2), ...hello], toolConfig } },
      { body: { messages: [{ role: 'user', content: [result()] }], toolConfig } },
    ],
    accepted: [{ body: { messages: loop(), toolConfig } }],
  },
  {
    id: 'cloudhost_converse.names',
    what: 'Names of tools and ids of calls past 64 characters, or with others than letters, digits, _ and -',
    source: 'https://github.com/aws-samples/remote-swe-agents/pull/457',
    date: '2026-09-07',
    check: ({ body }) =>
      first(specsOf(body), ({ at, spec }) =>
        /^[a-zA-Z0-9_-]{1,64}$/.test(textOf(spec['name']))
          ? null
          : bad(pattern(textOf(spec['name']), `toolConfig.tools.${at + 1}.member.toolSpec.name`, '[a-zA-Z0-9_-]+')),
      ) ??
      first(turnsOf(body), ({ blocks }, at) =>
        first(usesOf(blocks), (one, index) =>
          /^[a-zA-Z0-9_.:-]{1,64}$/.test(textOf(one['toolUseId']))
            ? null
            : bad(pattern(textOf(one['toolUseId']), `messages.${at + 1}.member.content.${index + 1}.member.toolUse.toolUseId`, '[a-zA-Z0-9_.:-]+')),
        ),
      ),
    refused: [
      { body: { messages: hello, toolConfig: { tools: [{ toolSpec: { name: 'get weather', inputSchema: { json: weather } } }] } } },
      { body: { messages: loop([], 'x'.repeat(65)), toolConfig } },
    ],
    accepted: [{ body: { messages: loop(), toolConfig } }],
  },
  {
    id: 'cloudhost_converse.tool-input',
    what: 'The input of a call that is no object',
    source: 'https://github.com/vercel/ai/pull/19023',
    date: '2026-08-18',
    check: ({ body }) =>
      first(turnsOf(body), ({ blocks }, at) =>
        first(usesOf(blocks), (one, index) =>
          isObject(one['input'])
            ? null
            : bad(`The format of the value at messages.${at}.content.${index}.toolUse.input is invalid. Provide a json object for the field and try again.`),
        ),
      ),
    refused: [
      {
        body: {
          messages: [
            ...hello,
            { role: 'assistant', content: [{ toolUse: { toolUseId: 'tooluse_1', name: 'weather', input: '{}' } }] },
            { role: 'user', content: [result()] },
          ],
          toolConfig,
        },
      },
    ],
    accepted: [{ body: { messages: loop(), toolConfig } }],
  },
  {
    id: 'cloudhost_converse.result-json',
    what: 'JSON results that are no objects, and failed results without content',
    source: 'https://github.com/sigoden/aichat/pull/1550',
    date: '2026-09-09',
    check: ({ body }) =>
      first(turnsOf(body), ({ blocks }, at) =>
        first(resultsOf(blocks), (one, index) => {
          const where = `messages.${at}.content.${index}.toolResult`;
          if (one['status'] === 'error' && list(one['content']).length === 0)
            return bad(`The content field at ${where} cannot be empty when status value is error.`);
          const odd = list(one['content']).findIndex((part) => 'json' in part && !isObject(part['json']));
          return odd < 0 ? null : bad(`The format of the value at ${where}.content.${odd}.json is invalid. Provide a json object for the field and try again.`);
        }),
      ),
    refused: [
      {
        body: {
          messages: [...loop().slice(0, 2), { role: 'user', content: [{ toolResult: { toolUseId: 'tooluse_1', content: [{ json: [1] }] } }] }],
          toolConfig,
        },
      },
      {
        body: {
          messages: [...loop().slice(0, 2), { role: 'user', content: [{ toolResult: { toolUseId: 'tooluse_1', status: 'error', content: [] } }] }],
          toolConfig,
        },
      },
    ],
    accepted: [
      {
        body: {
          messages: [...loop().slice(0, 2), { role: 'user', content: [{ toolResult: { toolUseId: 'tooluse_1', content: [{ json: { a: 1 } }] } }] }],
          toolConfig,
        },
      },
    ],
  },
  {
    id: 'cloudhost_converse.document',
    what: 'Names of documents with other signs than letters, digits, single spaces, _, hyphens and brackets; documents without a text beside them',
    source: 'https://github.com/aws-samples/generative-ai-use-cases/issues/1671',
    date: '2026-08-21',
    check: ({ body }) =>
      first(turnsOf(body), ({ blocks }, at) => {
        const found = blocks.filter((block) => isObject(block['document'])).map((block) => objectOf(block['document']));
        const odd = found.find(({ name }) => !/^(?!.* {2})[\w\-()[\] ]{1,200}$/.test(textOf(name)));
        if (odd)
          return bad(
            "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. The name can't contain more than one consecutive whitespace character. Check that the file name conforms to these restrictions and retry your request.",
          );
        return found.length > 0 && !blocks.some((block) => 'text' in block)
          ? bad(`The content field at messages.${at} contains a document block without a text block. Add a text block to the content field and try again.`)
          : null;
      }),
    refused: [
      { body: { messages: [{ role: 'user', content: [documents('notes.txt'), text('sum up')] }] } },
      { body: { messages: [{ role: 'user', content: [documents('notes')] }] } },
    ],
    accepted: ['my notes (1)', 'my_notes'].map((name) => ({ body: { messages: [{ role: 'user', content: [documents(name), text('sum up')] }] } })),
  },
  {
    id: 'cloudhost_converse.citations',
    // Recorded for Claude 4.5 alone (cloudhost_converse/citations-stream); the service lists no other vendor's models.
    models: /^(?!claude-(?:[4-9]|3-[57]|\D)|$)/,
    what: 'Citations of documents, at models that cite none',
    source: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CitationsConfig.html',
    date: '2026-05',
    wordsUnverified: true,
    check: ({ body }) =>
      turnsOf(body).some(({ blocks }) => documentsOf(blocks).some(({ citations }) => objectOf(citations)['enabled'] === true))
        ? bad("This model doesn't support the citations field. Remove citations and try again.")
        : null,
    refused: [{ modelId: 'us.amazon.nova-pro-v1:0', body: { messages: [{ role: 'user', content: [citing, text('sum up')] }] } }],
    accepted: [{ modelId: 'us.amazon.nova-pro-v1:0', body: { messages: [{ role: 'user', content: [documents('notes'), text('sum up')] }] } }],
  },
  {
    id: 'cloudhost_converse.signature',
    models: claude,
    what: 'Signatures of thinking that were not made for this account',
    source: 'https://github.com/anthropics/anthropic-sdk-python/issues/1598',
    date: '2026-08-05',
    check: ({ body, account }, memory) =>
      first(turnsOf(body), ({ blocks }, at) =>
        first(blocks, (block, index) => {
          const thought = objectOf(block['reasoningContent'])['reasoningText'];
          return isObject(thought) && !memory.isOwnSignature(thought['signature'], account)
            ? bad(refused(`messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block`))
            : null;
        }),
      ),
    refused: [{ body: { messages: loop([{ reasoningContent: { reasoningText: { text: 'hm' } } }]), toolConfig } }],
    accepted: [{ body: { messages: loop([{ reasoningContent: { reasoningText: { text: 'hm', signature: 'EqQBCgIYAg==' } } }]), toolConfig } }],
  },
  {
    id: 'cloudhost_converse.schema-root',
    models: claude,
    what: "A tool's schema whose root is a union, or no object",
    source: 'https://github.com/windoze95/cantinarr/issues/497',
    date: '2026-08-23',
    check: ({ body }) =>
      first(specsOf(body), ({ at, spec }) => {
        const schema = objectOf(objectOf(spec['inputSchema'])['json']);
        if (schema['type'] !== 'object') return bad(`The value at toolConfig.tools.${at}.toolSpec.inputSchema.json.type must be one of the following: object.`);
        return /^(?:oneOf|allOf|anyOf)$/.test(rootUnion(schema) ?? '')
          ? bad(refused(`tools.${at}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`))
          : null;
      }),
    refused: [{ body: { messages: hello, toolConfig: { tools: [{ toolSpec: { name: 'f', inputSchema: { json: { ...weather, anyOf: [{}] } } } }] } } }],
    accepted: [{ body: { messages: hello, toolConfig } }],
  },
  {
    id: 'cloudhost_converse.claude-media',
    models: claude,
    what: 'Audio and video, at Claude',
    source: 'https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html',
    date: '2026-05',
    wordsUnverified: true,
    check: ({ body }) =>
      first(turnsOf(body), ({ blocks }) =>
        first(['audio', 'video'], (kind) =>
          blocks.some((block) => isGiven(block[kind]))
            ? bad(`This model doesn't support the ${kind} content block that you provided. Update the content block and try again.`)
            : null,
        ),
      ),
    refused: [{ body: { messages: [{ role: 'user', content: [text('x'), { audio: { format: 'wav', source: { bytes: 'UklGRg==' } } }] }] } }],
    accepted: [{ body: { messages: [{ role: 'user', content: [text('x'), { image: { format: 'png', source: { bytes: pixel } } }] }] } }],
  },
  {
    id: 'cloudhost_converse.image-format',
    what: 'Pictures of other formats than png, jpeg, gif and webp',
    source: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ImageBlock.html',
    date: '2026-05',
    wordsUnverified: true,
    check: ({ body }) =>
      first(turnsOf(body), ({ blocks }, at) =>
        first(blocks, (block, index) => {
          const format = objectOf(block['image'])['format'];
          return !isObject(block['image']) || /^(?:png|jpeg|gif|webp)$/.test(textOf(format))
            ? null
            : bad(
                `1 validation error detected: Value '${format}' at 'messages.${at + 1}.member.content.${index + 1}.member.image.format' failed to satisfy constraint: Member must satisfy enum value set: [png, jpeg, gif, webp]`,
              );
        }),
      ),
    refused: [{ body: { messages: [{ role: 'user', content: [{ image: { format: 'jpg', source: { bytes: pixel } } }] }] } }],
    accepted: [{ body: { messages: [{ role: 'user', content: [{ image: { format: 'jpeg', source: { bytes: pixel } } }] }] } }],
  },
  {
    id: 'cloudhost_converse.stream-tools',
    models: /^llama/,
    what: 'Tools in a streamed reply, at Llama',
    source: 'https://github.com/earendil-works/pi/issues/3739',
    date: '2026-04-26',
    check: ({ body, path }) =>
      path.split('?')[0]?.endsWith('/converse-stream') && isObject(requestOf(body)['toolConfig'])
        ? bad("This model doesn't support tool use in streaming mode.")
        : null,
    refused: [{ modelId: 'us.meta.llama4-scout-17b-instruct-v1:0', path: '/model/x/converse-stream', body: { messages: hello, toolConfig } }],
    accepted: [{ modelId: 'us.meta.llama4-scout-17b-instruct-v1:0', path: '/model/x/converse', body: { messages: hello, toolConfig } }],
  },
  {
    id: 'cloudhost_converse.tool-choice',
    models: /^(?:llama|titan|command|gpt-oss)/,
    what: 'A forced call of a tool, at Llama and others that only choose themselves',
    source: 'https://github.com/strands-agents/harness-sdk/issues/1241',
    date: '2025-11',
    check: ({ body }) =>
      first(['any', 'tool'], (way) =>
        isObject(objectOf(objectOf(requestOf(body)['toolConfig'])['toolChoice'])[way])
          ? bad(`This model doesn't support the toolConfig.toolChoice.${way} field. Remove toolConfig.toolChoice.${way} and try again.`)
          : null,
      ),
    refused: [{ modelId: 'us.meta.llama3-3-70b-instruct-v1:0', body: { messages: hello, toolConfig: { ...toolConfig, toolChoice: { any: {} } } } }],
    accepted: [{ modelId: 'us.amazon.nova-pro-v1:0', body: { messages: hello, toolConfig: { ...toolConfig, toolChoice: { any: {} } } } }],
  },
  {
    id: 'cloudhost_converse.nova-tool-cache',
    models: /^nova/,
    what: 'Cache points among the tools, at Nova',
    source: 'https://github.com/danny-avila/LibreChat/issues/13838',
    date: '2026-06-18',
    check({ body }) {
      const at = list(objectOf(requestOf(body)['toolConfig'])['tools']).findIndex((tool) => isObject(tool['cachePoint']));
      return at < 0
        ? null
        : bad(`Malformed input request: #/toolConfig/tools/${at}: extraneous key [cachePoint] is not permitted, please reformat your input and try again.`);
    },
    refused: [
      { modelId: 'us.amazon.nova-pro-v1:0', body: { messages: hello, toolConfig: { tools: [...toolConfig.tools, { cachePoint: { type: 'default' } }] } } },
    ],
    accepted: [{ modelId: 'us.amazon.nova-pro-v1:0', body: { messages: hello, system: [text('short'), { cachePoint: { type: 'default' } }], toolConfig } }],
  },
  {
    id: 'cloudhost_converse.nova-high-effort',
    models: /^nova/,
    what: 'A limit of the reply, temperature and top_p, at Nova’s highest effort',
    source: 'https://github.com/UKGovernmentBEIS/inspect_ai/issues/3767',
    date: '2026-04-24',
    wordsUnverified: true,
    check({ body }) {
      const { maxReasoningEffort } = objectOf(objectOf(requestOf(body)['additionalModelRequestFields'])['reasoningConfig']);
      const inference = objectOf(requestOf(body)['inferenceConfig']);
      const odd = ['maxTokens', 'temperature', 'topP'].find((key) => isGiven(inference[key]));
      return maxReasoningEffort === 'high' && odd !== undefined ? bad(`${odd} cannot be used with maxReasoningEffort set to high.`) : null;
    },
    refused: [
      { modelId: 'us.amazon.nova-2-lite-v1:0', body: { messages: hello, inferenceConfig: { maxTokens: 9 }, additionalModelRequestFields: effort('high') } },
    ],
    accepted: [
      { modelId: 'us.amazon.nova-2-lite-v1:0', body: { messages: hello, additionalModelRequestFields: effort('high') } },
      { modelId: 'us.amazon.nova-2-lite-v1:0', body: { messages: hello, inferenceConfig: { maxTokens: 9 }, additionalModelRequestFields: effort('medium') } },
    ],
  },
  {
    id: 'cloudhost_converse.nova-cache-after',
    models: /^nova/,
    what: 'Cache points of Nova after anything but text in the messages',
    source: 'https://github.com/BerriAI/litellm/issues/17479',
    date: '2025-12-04',
    check: ({ body }) =>
      first(turnsOf(body), ({ blocks }, at) => {
        const found = blocks.findIndex((block, index) => isObject(block['cachePoint']) && !('text' in objectOf(blocks[index - 1])));
        return found < 0
          ? null
          : bad(
              `Malformed input request: #/messages/${at}/content/${found}: extraneous key [cachePoint] is not permitted, please reformat your input and try again.`,
            );
      }),
    refused: [
      {
        modelId: 'us.amazon.nova-pro-v1:0',
        body: { messages: [...loop().slice(0, 2), { role: 'user', content: [result(), { cachePoint: { type: 'default' } }] }], toolConfig },
      },
    ],
    accepted: [
      {
        modelId: 'us.amazon.nova-pro-v1:0',
        body: { messages: [...loop().slice(0, 2), { role: 'user', content: [result(), text('go on'), { cachePoint: { type: 'default' } }] }], toolConfig },
      },
    ],
  },
  {
    id: 'cloudhost_converse.no-cache',
    models: /^(?:llama|mistral|command|titan)/,
    what: 'Cache points, at models that cache nothing',
    source: 'https://github.com/BerriAI/litellm/pull/39210',
    date: '2026-09-01',
    check: ({ body }) =>
      JSON.stringify(requestOf(body)).includes('"cachePoint":{')
        ? { status: 403, message: 'You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information.' }
        : null,
    refused: [{ modelId: 'us.meta.llama3-3-70b-instruct-v1:0', body: { messages: hello, system: [text('short'), { cachePoint: { type: 'default' } }] } }],
    accepted: [{ modelId: 'us.meta.llama3-3-70b-instruct-v1:0', body: { messages: hello, system: [text('short')] } }],
  },
];

export const converseRules: VendorRule[] = rows.map((row) => ({ ...row, protocol: 'cloudhost_converse' }));
