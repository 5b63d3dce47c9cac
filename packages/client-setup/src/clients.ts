/** The one table of clients. */
import { dialects } from './dialects.ts';
import { literal, shellWord } from './quote.ts';
import type { ClientSetup, Dialect, FileStep, SetupFacts, SetupStep, Values } from './setup.ts';

const environmentKey = 'MODEL_GATEWAY_KEY';
const openAiUrl = ({ baseUrl }: SetupFacts): string => `${baseUrl}/v1`;

const file = (path: string, format: FileStep['format'], values: Values, ofModel?: FileStep['ofModel']): FileStep => ({
  ...{ kind: 'file', path, format, values },
  ...(ofModel && { ofModel }),
});
const code = (language: 'typescript' | 'python', install: string, text: string): SetupStep[] => [{ kind: 'code', language, install, text }];

/** Names of tools without dots: models of some vendors refuse them. */
const toolsUrl = ({ baseUrl }: SetupFacts): string => `${baseUrl}/mcp?separator=__`;
const bearer = ({ key }: SetupFacts): Values => ({ Authorization: `Bearer ${key}` });

/** Without both figures OpenCode cannot know when to compact a conversation. */
const openCodeLimits = ({ limits }: SetupFacts): Values =>
  limits?.context === undefined
    ? {}
    : {
        limit: {
          context: limits.context,
          // Of a window that prompt and reply share it keeps the reply's part free only where this is not said.
          ...(limits.input !== undefined && limits.input < limits.context && { input: limits.input }),
          output: limits.output ?? Math.min(limits.context, 32_000),
        },
      };

/** What a conversation may fill before it has to be compacted. */
const promptOf = ({ limits }: SetupFacts): number | undefined => limits?.input ?? limits?.context;

/** Pi takes a model of unknown size to have a window of 128,000 tokens. */
const piLimits = (facts: SetupFacts): Values => ({
  ...(promptOf(facts) !== undefined && { contextWindow: promptOf(facts) as number }),
  ...(facts.limits?.output !== undefined && { maxTokens: facts.limits.output }),
});

/** Gemini CLI compacts at this part of the window that it takes every model to have, by default at its half. */
const assumedByGemini = 1_048_576;
function geminiThreshold(facts: SetupFacts): Values {
  const prompt = promptOf(facts);
  return prompt === undefined || prompt >= assumedByGemini ? {} : { compressionThreshold: Number((prompt / assumedByGemini / 2).toPrecision(3)) };
}

/**
 * Gemini CLI searches, summarizes and compacts with models of its vendor (`defaultModelConfigs.ts`), whichever model it was given. Of one that is not
 * there it searches without end, and compacting ends the program.
 */
const geminiHelpers =
  'gemini-3-flash-base loop-detection-double-check classifier prompt-completion fast-ack-helper edit-corrector summarizer-default summarizer-shell'.split(' ');
const geminiCompaction = ['chat-compression-default', 'agent-history-provider-summarizer'];
function geminiAliases({ model }: SetupFacts): Values {
  const modelConfig = { model };
  return {
    ...Object.fromEntries(geminiHelpers.map((name) => [name, { extends: 'base', modelConfig }])),
    ...Object.fromEntries(geminiCompaction.map((name) => [name, { modelConfig }])),
  };
}

/** Claude Code takes a model that it does not know to read a million tokens. */
const claudeWindow = 'CLAUDE_CODE_MAX_CONTEXT_TOKENS';

function curl(dialect: Dialect): ClientSetup {
  const { title, call } = dialects[dialect];
  return {
    id: `curl-${dialect}`,
    name: `curl · ${title}`,
    group: 'shell',
    dialect,
    steps: (facts) => {
      const { url, headers, body } = call(facts, 'Say hello.');
      const lines = [
        `curl ${shellWord(url)}`,
        ...Object.entries(headers).map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`),
        `-d ${shellWord(JSON.stringify(body))}`,
      ];
      return [{ kind: 'command', text: lines.join(' \\\n  ') }];
    },
  };
}

/** Programs that take an "OpenAI-compatible" address in their settings. */
const inSettings = (
  client: Pick<ClientSetup, 'id' | 'name' | 'group'>,
  { place, labels }: { place: string; labels: [address: string, key: string, model: string] },
  note?: ClientSetup['note'],
): ClientSetup => ({
  ...client,
  dialect: 'chat',
  steps: (facts) => [
    {
      kind: 'fields',
      place,
      fields: [
        [labels[0], openAiUrl(facts)],
        [labels[1], facts.key],
        [labels[2], facts.model],
      ],
    },
  ],
  ...(note && { note }),
});

export const clients: readonly ClientSetup[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    group: 'agent',
    dialect: 'messages',
    retriesBrokenStreams: true,
    steps: (facts) => [
      file(
        '~/.claude/settings.json',
        'json',
        {
          env: {
            ANTHROPIC_BASE_URL: facts.baseUrl,
            ANTHROPIC_AUTH_TOKEN: facts.key,
            ANTHROPIC_MODEL: facts.model,
            ANTHROPIC_DEFAULT_HAIKU_MODEL: facts.model,
            ...(promptOf(facts) !== undefined && { [claudeWindow]: String(promptOf(facts)) }),
          },
        },
        [['env', claudeWindow]],
      ),
      ...(facts.tools ? [file('~/.claude.json', 'json', { mcpServers: { gateway: { type: 'http', url: toolsUrl(facts), headers: bearer(facts) } } })] : []),
      { kind: 'command', text: 'claude' },
    ],
    note: {
      en: 'Its background work asks for a small model: point ANTHROPIC_DEFAULT_HAIKU_MODEL at a cheaper one when you have it.',
      zh: '其后台任务会使用小模型：如有更便宜的模型，请将 ANTHROPIC_DEFAULT_HAIKU_MODEL 指向它。',
    },
  },
  {
    id: 'codex',
    name: 'Codex CLI',
    group: 'agent',
    dialect: 'responses',
    retriesBrokenStreams: true,
    steps: (facts) => [
      file(
        '~/.codex/config.toml',
        'toml',
        {
          model: facts.model,
          model_provider: 'gateway',
          // Codex knows its own vendor's models alone: it would compact too early, or too late, and warn of it in each session.
          ...(promptOf(facts) !== undefined && { model_context_window: promptOf(facts) as number }),
          model_providers: { gateway: { name: 'Model gateway', base_url: openAiUrl(facts), env_key: environmentKey, wire_api: 'responses' } },
          ...(facts.tools && { mcp_servers: { gateway: { url: toolsUrl(facts), bearer_token_env_var: environmentKey } } }),
        },
        // The second is what earlier versions of this table wrote; Codex warns of it as unknown.
        [['model_context_window'], ['model_supports_reasoning_summaries']],
      ),
      { kind: 'environment', variables: { [environmentKey]: facts.key } },
      { kind: 'command', text: 'codex' },
    ],
    note: {
      en: 'The key is read from the environment: put the export into your shell profile.',
      zh: '密钥从环境变量读取：请将 export 语句写入 shell 配置文件。',
    },
  },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    group: 'agent',
    dialect: 'generate',
    retriesBrokenStreams: true,
    steps: (facts) => [
      file('~/.gemini/.env', 'env', { GOOGLE_GEMINI_BASE_URL: facts.baseUrl, GEMINI_API_KEY: facts.key }),
      file(
        '~/.gemini/settings.json',
        'json',
        {
          model: { name: facts.model, ...geminiThreshold(facts) },
          modelConfigs: { customAliases: geminiAliases(facts) },
          security: { auth: { selectedType: 'gemini-api-key' } },
          ...(facts.tools && { mcpServers: { gateway: { httpUrl: toolsUrl(facts), headers: bearer(facts) } } }),
        },
        [['model', 'compressionThreshold']],
      ),
      { kind: 'command', text: `gemini -m ${shellWord(facts.model)}` },
    ],
    note: {
      en: 'Its helpers (search, summaries, compaction) use the same model: name a cheaper one in modelConfigs.customAliases when you have it.',
      zh: '其辅助功能（搜索、摘要、压缩）使用同一模型：如有更便宜的模型，请在 modelConfigs.customAliases 中指定。',
    },
  },
  {
    id: 'opencode',
    name: 'OpenCode',
    group: 'agent',
    dialect: 'chat',
    retriesBrokenStreams: true,
    steps: (facts) => [
      {
        ...file(
          '~/.config/opencode/opencode.json',
          'json',
          {
            $schema: 'https://opencode.ai/config.json',
            provider: {
              gateway: {
                npm: '@ai-sdk/openai-compatible',
                name: 'Model gateway',
                options: { baseURL: openAiUrl(facts), apiKey: facts.key },
                models: { [facts.model]: { name: facts.model, ...openCodeLimits(facts) } },
              },
            },
            model: `gateway/${facts.model}`,
            ...(facts.tools && { mcp: { gateway: { type: 'remote', url: toolsUrl(facts), enabled: true, headers: bearer(facts) } } }),
          },
          [
            ['provider', 'gateway', 'models', facts.model, 'limit', 'input'],
            ['provider', 'gateway', 'models', facts.model, 'limit'],
          ],
        ),
        // It reads both, this one last.
        winner: '~/.config/opencode/opencode.jsonc',
      },
      { kind: 'command', text: 'opencode' },
    ],
  },
  {
    id: 'kimi-code',
    name: 'Kimi Code',
    group: 'agent',
    dialect: 'chat',
    retriesBrokenStreams: true,
    steps: (facts) => [
      file('~/.kimi-code/config.toml', 'toml', {
        default_model: 'gateway',
        providers: { gateway: { type: 'openai', base_url: openAiUrl(facts), api_key: facts.key } },
        // It refuses a model without a size.
        models: { gateway: { provider: 'gateway', model: facts.model, max_context_size: promptOf(facts) ?? 128_000 } },
      }),
      ...(facts.tools ? [file('~/.kimi-code/mcp.json', 'json', { mcpServers: { gateway: { url: toolsUrl(facts), headers: bearer(facts) } } })] : []),
      { kind: 'command', text: 'kimi' },
    ],
  },
  {
    id: 'pi',
    name: 'Pi',
    group: 'agent',
    dialect: 'chat',
    retriesBrokenStreams: true,
    steps: (facts) => [
      file('~/.pi/agent/models.json', 'json', {
        providers: {
          gateway: {
            baseUrl: openAiUrl(facts),
            api: 'openai-completions',
            apiKey: facts.key,
            models: [{ id: facts.model, name: facts.model, ...piLimits(facts) }],
          },
        },
      }),
      file('~/.pi/agent/settings.json', 'json', { defaultProvider: 'gateway', defaultModel: facts.model }),
      { kind: 'command', text: 'pi' },
    ],
  },
  inSettings(
    { id: 'cursor', name: 'Cursor', group: 'editor' },
    { place: 'Settings → Models → API keys', labels: ['Override OpenAI Base URL', 'OpenAI API Key', 'Add model'] },
    {
      en: 'Cursor calls from its own servers: the address must be reachable from the internet.',
      zh: 'Cursor 从自己的服务器发起调用：网关地址必须能从互联网访问。',
    },
  ),
  inSettings(
    { id: 'cline', name: 'Cline', group: 'editor' },
    { place: 'Settings → API Provider → OpenAI Compatible', labels: ['Base URL', 'OpenAI Compatible API Key', 'Model ID'] },
  ),
  {
    id: 'continue',
    name: 'Continue',
    group: 'editor',
    dialect: 'chat',
    steps: (facts) => [
      {
        ...file('~/.continue/config.yaml', 'yaml', {
          name: 'Model gateway',
          version: '1.0.0',
          schema: 'v1',
          models: [
            { name: facts.model, provider: 'openai', model: facts.model, apiBase: openAiUrl(facts), apiKey: facts.key, roles: ['chat', 'edit', 'apply'] },
          ],
        }),
        keeps: ['name', 'version', 'schema'],
      },
    ],
  },
  {
    id: 'open-webui',
    name: 'Open WebUI',
    group: 'application',
    dialect: 'chat',
    steps: (facts) => [
      { kind: 'environment', variables: { OPENAI_API_BASE_URL: openAiUrl(facts), OPENAI_API_KEY: facts.key } },
      { kind: 'command', text: 'open-webui serve' },
      {
        kind: 'fields',
        place: 'Admin Panel → Settings → Connections → OpenAI API',
        fields: [
          ['URL', openAiUrl(facts)],
          ['API Key', facts.key],
        ],
      },
    ],
    note: {
      en: 'In a container the gateway is not at 127.0.0.1: use its name on the network, or host.docker.internal.',
      zh: '在容器中不能通过 127.0.0.1 访问网关：请使用网关在该网络中的名称，或 host.docker.internal。',
    },
  },
  {
    id: 'openai-js',
    name: 'OpenAI SDK · JavaScript',
    group: 'sdk',
    dialect: 'chat',
    steps: (facts) =>
      code(
        'typescript',
        'npm install openai',
        `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: ${literal(openAiUrl(facts))}, apiKey: ${literal(facts.key)} });
const stream = await client.chat.completions.create({
  model: ${literal(facts.model)},
  stream: true,
  messages: [{ role: 'user', content: 'Say hello.' }],
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? '');`,
      ),
  },
  {
    id: 'openai-python',
    name: 'OpenAI SDK · Python',
    group: 'sdk',
    dialect: 'chat',
    steps: (facts) =>
      code(
        'python',
        'pip install openai',
        `from openai import OpenAI

client = OpenAI(base_url=${literal(openAiUrl(facts))}, api_key=${literal(facts.key)})
stream = client.chat.completions.create(
    model=${literal(facts.model)},
    stream=True,
    messages=[{"role": "user", "content": "Say hello."}],
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`,
      ),
  },
  {
    id: 'anthropic-js',
    name: 'Anthropic SDK · JavaScript',
    group: 'sdk',
    dialect: 'messages',
    steps: ({ baseUrl, key, model }) =>
      code(
        'typescript',
        'npm install @anthropic-ai/sdk',
        `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: ${literal(baseUrl)}, apiKey: ${literal(key)} });
const stream = client.messages.stream({
  model: ${literal(model)},
  max_tokens: 1024,
  messages: [{ role: 'user', content: 'Say hello.' }],
});
stream.on('text', (text) => process.stdout.write(text));
await stream.finalMessage();`,
      ),
  },
  {
    id: 'anthropic-python',
    name: 'Anthropic SDK · Python',
    group: 'sdk',
    dialect: 'messages',
    steps: ({ baseUrl, key, model }) =>
      code(
        'python',
        'pip install anthropic',
        `from anthropic import Anthropic

client = Anthropic(base_url=${literal(baseUrl)}, api_key=${literal(key)})
with client.messages.stream(
    model=${literal(model)},
    max_tokens=1024,
    messages=[{"role": "user", "content": "Say hello."}],
) as stream:
    for text in stream.text_stream:
        print(text, end="", flush=True)`,
      ),
  },
  {
    id: 'gemini-js',
    name: 'Google Gen AI SDK · JavaScript',
    group: 'sdk',
    dialect: 'generate',
    steps: ({ baseUrl, key, model }) =>
      code(
        'typescript',
        'npm install @google/genai',
        `import { GoogleGenAI } from '@google/genai';

const client = new GoogleGenAI({ apiKey: ${literal(key)}, httpOptions: { baseUrl: ${literal(baseUrl)} } });
const stream = await client.models.generateContentStream({ model: ${literal(model)}, contents: 'Say hello.' });
for await (const chunk of stream) process.stdout.write(chunk.text ?? '');`,
      ),
  },
  {
    id: 'gemini-python',
    name: 'Google Gen AI SDK · Python',
    group: 'sdk',
    dialect: 'generate',
    steps: ({ baseUrl, key, model }) =>
      code(
        'python',
        'pip install google-genai',
        `from google import genai

client = genai.Client(api_key=${literal(key)}, http_options={"base_url": ${literal(baseUrl)}})
for chunk in client.models.generate_content_stream(model=${literal(model)}, contents="Say hello."):
    print(chunk.text or "", end="", flush=True)`,
      ),
  },
  {
    id: 'langchain-js',
    name: 'LangChain · JavaScript',
    group: 'sdk',
    dialect: 'chat',
    steps: (facts) =>
      code(
        'typescript',
        'npm install @langchain/openai',
        `import { ChatOpenAI } from '@langchain/openai';

const model = new ChatOpenAI({ model: ${literal(facts.model)}, apiKey: ${literal(facts.key)}, configuration: { baseURL: ${literal(openAiUrl(facts))} } });
for await (const chunk of await model.stream('Say hello.')) process.stdout.write(String(chunk.content));`,
      ),
  },
  {
    id: 'langchain-python',
    name: 'LangChain · Python',
    group: 'sdk',
    dialect: 'chat',
    steps: (facts) =>
      code(
        'python',
        'pip install langchain-openai',
        `from langchain_openai import ChatOpenAI

model = ChatOpenAI(model=${literal(facts.model)}, api_key=${literal(facts.key)}, base_url=${literal(openAiUrl(facts))})
for chunk in model.stream("Say hello."):
    print(chunk.content, end="", flush=True)`,
      ),
  },
  curl('chat'),
  curl('responses'),
  curl('messages'),
  curl('generate'),
];

/** By id; undefined when there is none. */
export const findClient = (id: string): ClientSetup | undefined => clients.find((client) => client.id === id);
