/**
 * What is known of model families: the one place to edit when a vendor brings a new generation. Patterns match bare ids (see README);
 * a row says only what differs from the less specific rows that match too. `checked` is when the source last said so. Windows and prices are not said here:
 * they come from `data/models.json`, and `like` names the model there whose window stands for members of the family that the list does not name.
 */
import type { ChatRules, ClosedFields, ConverseRules, FamilyRow, Vendor } from './family.ts';

export interface SourcedRow {
  row: FamilyRow;
  source: string;
  /** Year and month. */
  checked: string;
}

const from =
  (vendor: Vendor, source: string, checked: string) =>
  (row: FamilyRow): SourcedRow => ({ row: { vendor, ...row }, source, checked });

const claude = from('anthropic', 'https://docs.claude.com/en/docs/about-claude/models/overview', '2026-05');
const openaiModels = from('openai', 'https://platform.openai.com/docs/models', '2025-12');
/** A reply that the caller has begun is answered anew by all of them. */
const gpt = (row: FamilyRow): SourcedRow => openaiModels({ begunReply: 'no', ...row });
const gemini = from('google', 'https://ai.google.dev/gemini-api/docs/models', '2026-01');
/** Its LOW is the least level, and neither budgets, penalties nor begun replies are taken: https://dev.to/aihubmix/gemini-4-neon-migration-default-high-thinking-400-errors-and-the-65k-cap-45gj */
const gemini4 = from('google', 'https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/guides/gemini-4-hydrogen', '2026-11');
const geminiFlash = from('google', 'https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/guides/gemini-3-8-flash', '2026-11');
const nova = from('amazon', 'https://docs.aws.amazon.com/nova/latest/userguide/what-is-nova.html', '2025-12');
const deepseek = from('deepseek', 'https://api-docs.deepseek.com/quick_start/pricing', '2025-12');
const qwen = from('qwen', 'https://www.alibabacloud.com/help/en/model-studio/models', '2025-12');
const kimi = from('moonshot', 'https://platform.moonshot.ai/docs/pricing/chat', '2025-12');
const glm = from('zai', 'https://docs.z.ai/guides/overview/pricing', '2025-12');
const mistral = from('mistral', 'https://docs.mistral.ai/getting-started/models', '2025-12');
const llama = from('meta', 'https://www.llama.com/docs/model-cards-and-prompt-formats', '2025-12');

const minimax = from('minimax', 'https://platform.minimax.io/docs/api-reference/text-openai-api', '2025-12');
const grok = from('xai', 'https://docs.x.ai/docs/models', '2025-12');
const cohere = from('cohere', 'https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html', '2025-11');

/** Generations before 4.5: neither schemas nor lifetimes of caches, and no system text between turns. */
const older: FamilyRow = { systemTurns: false, begunReply: 'continues', converse: { cacheLifetimes: false, structuredOutput: false } };

const words = ['low', 'medium', 'high'] as const;
/** From GPT-5.6 on: https://github.com/anomalyco/opencode/issues/36141 */
const toMax = [...words, 'xhigh', 'max'] as const;

/** The first-party endpoint. */
const openai: Partial<ChatRules> = { firstParty: true, developerRole: true, forbidsReasoning: true };
const chatting: Partial<ChatRules> = { ...openai, maxStops: 4 };
const reasoner: Partial<ChatRules> = { ...openai, limitField: 'max_completion_tokens', maxStops: 0 };
/** From 5.4 on it takes no effort beside tools (https://github.com/openai/openai-openapi/issues/541), from 5.6 on `none` alone (https://github.com/BerriAI/litellm/pull/34569). */
const newest: Partial<ChatRules> = { ...reasoner, freeTextTools: true };

const gemini2: FamilyRow = { begunReply: 'continues', needsCallSignature: false, generateContent: { mediaInResults: false, formatBesideTools: false } };
const gemini3: FamilyRow = { begunReply: 'continues', needsCallSignature: true, generateContent: { mediaInResults: true, formatBesideTools: true } };

/** Anything else is a 422, `extra_forbidden`: ChatCompletionRequest of https://docs.mistral.ai/api. */
const mistralFields: ClosedFields = {
  request: [
    ...['model', 'messages', 'max_tokens', 'temperature', 'top_p', 'stop', 'random_seed', 'stream', 'n', 'presence_penalty', 'frequency_penalty'],
    ...['response_format', 'tools', 'tool_choice', 'parallel_tool_calls', 'prediction', 'prompt_mode', 'reasoning_effort', 'safe_prompt', 'metadata'],
    ...['guardrails', 'prompt_cache_key'],
  ],
  messages: {
    system: ['role', 'content'],
    user: ['role', 'content'],
    assistant: ['role', 'content', 'tool_calls', 'prefix'],
    tool: ['role', 'content', 'tool_call_id', 'name'],
  },
  call: ['id', 'type', 'function', 'index'],
  function: ['name', 'description', 'strict', 'parameters'],
};
/** The same of an assistant's message. */
const assistantFields = ['role', 'content', 'tool_calls', 'prefix'] as const;
const mistralChat: Partial<ChatRules> = {
  ...{ reasoning: 'none', streamOptions: false, seedField: 'random_seed', laterSystem: false },
  ...{ onlyFields: mistralFields, forbidsReasoning: true, assistantFields },
};
/** Models of xAI that think refuse both. */
const grokThinks: Partial<ChatRules> = { maxStops: 0, penalties: false };
const mistralConverse: Partial<ConverseRules> = { toolChoices: ['auto', 'any'], topK: 'top_k' };
/** What all models of this vendor have alike. */
const mistralBase: FamilyRow = {
  like: 'mistral-large',
  ...{ pdf: false, thinking: { style: 'none' }, sampling: { maxTemperature: 1.5 }, toolIds: { maxLength: 9, plain: true } },
  ...{ begunReply: 'prefix', chat: mistralChat, converse: mistralConverse },
};
const firstMistral: FamilyRow = { ...mistralBase, vision: false, converse: { system: false, toolChoices: [] } };
/** Its models that reason on request: on and off are the only settings. */
const mistralThinks: FamilyRow = { thinking: { style: 'effort', efforts: ['high'], optional: true }, chat: { reasoning: 'effort' } };

/** Its words are low, high and max, as https://www.npmjs.com/package/@ai-sdk/deepseek (3.0.56) has them. */
const deepseek4: FamilyRow = {
  thinking: { efforts: ['low', 'high', 'max'] },
  chat: { demandsReasoning: 'unless-off', refusesForcedThinking: 'unless-off' },
};
/** Unions in schemas: https://github.com/MoonshotAI/kimi-code/issues/2661; images by address: https://platform.kimi.ai/docs/guide/use-kimi-vision-model */
const kimiChat: Partial<ChatRules> = {
  ...{ reasoning: 'thinking-type', typedUnions: true, opensImages: false },
  ownHosts: /^https?:\/\/(?:[a-z0-9-]+\.)*(?:moonshot|kimi)\.(?:ai|cn|com)(?::\d+)?(?:\/|$)/i,
};
/** Sampling: https://github.com/nashsu/llm_wiki/issues/173; forced calls: https://github.com/UKGovernmentBEIS/inspect_ai/pull/5152 */
const kimiThinks: Partial<ChatRules> = { demandsReasoning: 'unless-off', refusesForcedThinking: 'unless-off', ownSampling: true };
const glmNewer = from('zai', 'https://github.com/charmbracelet/catwalk/pull/603', '2026-09');
const mistralNewer = from('mistral', 'https://www.npmjs.com/package/@ai-sdk/mistral (4.0.84)', '2026-11');
const kimiNewer = from('moonshot', 'https://www.npmjs.com/package/@ai-sdk/moonshotai (3.0.59)', '2026-11');
const kimiRows = (patterns: readonly string[], row: FamilyRow) => Object.fromEntries(patterns.map((pattern) => [pattern, kimiNewer(row)]));

export const table: Readonly<Record<string, SourcedRow>> = {
  // ---- Anthropic: what a generation refuses is in packages/protocols/src/beta/README.md
  'claude*': claude({
    like: 'claude-sonnet-5-5',

    defaultOutput: 64_000,
    cacheMarks: 'explicit',
    thinking: { style: 'adaptive', min: 1024, max: 127_999, efforts: [...words, 'xhigh', 'max'], optional: true },
    sampling: { fixed: true, maxTemperature: 1, both: false },
    toolIds: { maxLength: 64, plain: true },
    systemTurns: true,
    begunReply: 'no',
    chat: { reasoning: 'reasoning-object', cacheControl: true, topK: true },
    converse: {
      ...{ cachePoints: ['system', 'messages', 'tools'], cacheLifetimes: true, resultStatus: true, structuredOutput: true },
      ...{ citations: true, reasoning: 'messages', topK: 'top_k' },
    },
  }),
  'claude-2*': claude({
    like: 'claude-v2',
    ...older,
    ...{ defaultOutput: 4096, vision: false, pdf: false, structuredOutput: 'emulate' },
    converse: { ...older.converse, citations: false },
    ...{ thinking: { style: 'none', efforts: [] }, sampling: { fixed: false, both: true } },
  }),
  'claude-3*': claude({
    like: 'claude-3-opus',
    ...older,
    ...{ defaultOutput: 4096, pdf: false, structuredOutput: 'emulate' },
    converse: { ...older.converse, citations: false },
    ...{ thinking: { style: 'none', efforts: [] }, sampling: { fixed: false, both: true } },
  }),
  'claude-3-5*': claude({ like: 'claude-3-5-sonnet', defaultOutput: 8192, pdf: true, converse: { citations: true } }),
  'claude-3-7*': claude({ defaultOutput: 32_000, pdf: true, thinking: { style: 'budget' }, converse: { citations: true } }),
  ...Object.fromEntries(
    ['claude-*-4-0', 'claude-*-4-2025*'].map((pattern) => [
      pattern,
      claude({
        ...older,
        ...{ like: 'claude-opus-4-5', defaultOutput: 32_000, structuredOutput: 'emulate' },
        ...{ thinking: { style: 'budget', efforts: [] }, sampling: { fixed: false, both: true } },
      }),
    ]),
  ),
  'claude-opus-4-1*': claude({
    like: 'claude-opus-4-1',
    ...older,
    ...{ defaultOutput: 32_000 },
    ...{ thinking: { style: 'budget', efforts: [] }, sampling: { fixed: false } },
  }),
  'claude-*-4-5*': claude({
    like: 'claude-sonnet-4-5',
    ...{ defaultOutput: 32_000, systemTurns: false, begunReply: 'continues' },
    ...{ thinking: { style: 'budget', efforts: [] }, sampling: { fixed: false } },
  }),
  'claude-opus-4-5*': claude({ thinking: { efforts: words } }),
  'claude-*-4-6*': claude({ like: 'claude-sonnet-4-6', systemTurns: false, thinking: { efforts: [...words, 'max'] }, sampling: { fixed: false } }),
  'claude-*-4-7*': claude({ systemTurns: false }),

  // ---- OpenAI
  'gpt-3.5*': gpt({
    like: 'gpt-3.5-turbo',
    tokenizer: 'cl100k_base',

    vision: false,
    pdf: false,
    structuredOutput: 'emulate',
    thinking: { style: 'none' },
    chat: { ...chatting, jsonSchema: false },
  }),
  'gpt-4*': gpt({
    like: 'gpt-4-turbo',
    ...{ tokenizer: 'cl100k_base', thinking: { style: 'none' }, structuredOutput: 'emulate' },
    chat: { ...chatting, jsonSchema: false },
  }),
  'gpt-4o*': gpt({ like: 'gpt-4o', tokenizer: 'o200k_base', structuredOutput: 'native', chat: { jsonSchema: true } }),
  'chatgpt-4o*': gpt({ like: 'gpt-4o', thinking: { style: 'none' }, tools: false, chat: chatting }),
  'gpt-4.1*': gpt({ like: 'gpt-4.1', ...{ tokenizer: 'o200k_base', structuredOutput: 'native' }, ...{ chat: { jsonSchema: true } } }),
  'o1*': gpt({
    like: 'o3',

    minOutput: 16,
    thinking: { style: 'effort', efforts: words, optional: false },
    sampling: { fixed: true },
    chat: { ...reasoner, maxStops: 4 },
  }),
  'o3*': gpt({
    like: 'o3',

    minOutput: 16,
    thinking: { style: 'effort', efforts: words, optional: false },
    sampling: { fixed: true },
    chat: reasoner,
  }),
  ...Object.fromEntries(['o1-mini*', 'o1-preview*'].map((pattern) => [pattern, gpt({ vision: false })])),
  'o3-mini*': gpt({ vision: false, chat: { maxStops: 4 } }),
  'o4-mini*': gpt({
    like: 'o3',

    minOutput: 16,
    thinking: { style: 'effort', efforts: words, optional: false },
    sampling: { fixed: true },
    chat: reasoner,
  }),
  'gpt-5*': gpt({
    like: 'gpt-5',

    minOutput: 16,
    replyApart: true,
    thinking: { style: 'effort', efforts: ['minimal', ...words], optional: false },
    sampling: { fixed: true },
    chat: newest,
  }),
  'gpt-5*-chat*': gpt({
    like: 'gpt-4o',
    replyApart: false,
    ...{ thinking: { style: 'none', efforts: [] }, sampling: { fixed: false } },
    chat: { ...newest, maxStops: 4 },
  }),
  'gpt-5.1*': gpt({ thinking: { efforts: words, optional: true, offByDefault: true } }),
  'gpt-5.1-codex-max*': gpt({ thinking: { efforts: [...words, 'xhigh'] } }),
  'gpt-5.2*': gpt({ thinking: { efforts: [...words, 'xhigh'], optional: true, offByDefault: true } }),
  ...Object.fromEntries(['gpt-5.1*-codex*', 'gpt-5.2*-codex*', 'gpt-5.2*-pro*'].map((pattern) => [pattern, gpt({ thinking: { offByDefault: false } })])),
  // Generations that this table does not know yet are taken for the last one that it does: what they take may not be cut down to what the first took.
  ...Object.fromEntries(
    [3, 4, 5, 6, 7, 8, 9].map((minor) => [
      `gpt-5.${minor}*`,
      gpt({
        ...(minor >= 6 && { like: 'gpt-5.6' }),
        ...{ cacheBreakpoints: minor >= 6, thinking: { efforts: minor >= 6 ? toMax : [...words, 'xhigh'], optional: true } },
        ...(minor >= 4 && { chat: { effortBesideTools: minor >= 6 ? 'none' : 'unset' } }),
      }),
    ]),
  ),
  ...Object.fromEntries(
    [6, 7, 8, 9].map((major) => [
      `gpt-${major}*`,
      gpt({
        ...{ like: 'gpt-6.1-sol', minOutput: 16, replyApart: true, sampling: { fixed: true }, cacheBreakpoints: true },
        thinking: { style: 'effort', efforts: toMax, optional: true },
        chat: { ...newest, effortBesideTools: 'none' },
      }),
    ]),
  ),
  // https://docs.oxen.ai/inference-api/reference/models/gpt-6-astra
  'gpt-6*-astra*': gpt({ thinking: { optional: false } }),
  'gpt-oss*': gpt({
    like: 'gpt-oss-120b-1',
    ...{ vision: false, pdf: false, thinking: { style: 'effort', efforts: words, optional: false } },
    converse: { structuredOutput: true, reasoning: 'effort', toolChoices: ['auto'] },
  }),

  // ---- Google
  'gemini*': gemini({
    like: 'gemini-pro',

    defaultOutput: 65_536,
    thinking: { style: 'effort', min: 0, max: 32_768, efforts: ['minimal', ...words], optional: true },
    ...gemini3,
    chat: { forbidsReasoning: true },
  }),
  'gemini-1*': gemini({ ...gemini2, defaultOutput: 8192, thinking: { style: 'none', efforts: [] } }),
  'gemini-2*': gemini({ ...gemini2, thinking: { style: 'budget', max: 24_576, efforts: [] } }),
  'gemini-2.0*': gemini({ defaultOutput: 8192, thinking: { style: 'none', efforts: [] } }),
  'gemini-2.5-flash-lite*': gemini({ thinking: { min: 512 } }),
  'gemini-2.5-pro*': gemini({ thinking: { min: 128, max: 32_768, optional: false } }),
  ...Object.fromEntries(
    ['gemini-2.5-*-image*', 'gemini-2.5-*-tts*', 'gemini-2.5-flash-image*', 'gemini-2.5-flash-native*'].map((pattern) => [
      pattern,
      gemini({ thinking: { style: 'none' } }),
    ]),
  ),
  'gemini-3*': gemini({ thinking: { optional: false } }),
  // Those of the following generations are taken for what the last known ones are.
  ...Object.fromEntries(
    ['3.7-flash*', '3.8-flash*', '3.9-flash*', 'flash-latest'].map((name) => [`gemini-${name}`, geminiFlash({ thinking: { efforts: words } })]),
  ),
  ...Object.fromEntries(
    [4, 5, 6, 7, 8, 9].map((major) => [
      `gemini-${major}*`,
      gemini4({
        ...{ thinking: { efforts: words, optional: false }, begunReply: 'no' },
        ...{ chat: { penalties: false }, generateContent: { penalties: false, budgetForLevel: false } },
      }),
    ]),
  ),
  ...Object.fromEntries(['hydrogen', 'neon'].map((name) => [`gemini-4-${name}*`, gemini4({ thinking: { efforts: [...words, 'xhigh'] } })])),
  ...Object.fromEntries([3, 4, 5, 6, 7, 8, 9].map((major) => [`gemini-${major}*-pro*`, gemini({ thinking: { efforts: words, optional: false } })])),
  'gemini-pro-latest': gemini({ thinking: { efforts: words, optional: false } }),
  'gemini-3-pro*': gemini({ thinking: { efforts: ['low', 'high'] } }),
  'gemma*': gemini({ like: 'gemma-3-27b-it', ...{ defaultOutput: 8192, tools: false, structuredOutput: 'emulate', thinking: { style: 'none' } }, ...gemini2 }),
  'learnlm*': gemini({ ...gemini2, thinking: { style: 'none' } }),

  // ---- Amazon
  'nova*': nova({
    like: 'nova-pro',

    defaultOutput: 5000,
    structuredOutput: 'emulate',
    cacheMarks: 'explicit',
    thinking: { style: 'none' },
    sampling: { maxTemperature: 1 },
    begunReply: 'no',
    converse: { cachePoints: ['system', 'messages'], cachesAfterText: true, resultStatus: true, topK: 'nova' },
  }),
  'nova-2*': nova({ like: 'nova-2-lite', converse: { reasoning: 'nova' } }),
  'nova-micro*': nova({ vision: false, pdf: false }),
  'nova-premier*': nova({ cacheMarks: 'automatic' }),

  'titan*': nova({
    like: 'titan-text-premier',
    vision: false,
    pdf: false,
    tools: false,
    thinking: { style: 'none' },
    converse: { system: false, toolChoices: [] },
  }),

  // ---- DeepSeek, Qwen, Kimi, GLM, MiniMax
  'deepseek*': deepseek({
    like: 'deepseek-v3.2',

    vision: false,
    pdf: false,
    structuredOutput: 'emulate',
    replaysReasoning: 'with-calls',
    begunReply: 'no',
    thinking: { style: 'adaptive', efforts: [] },
    chat: { reasoning: 'thinking-type', jsonSchema: false, demandsReasoning: 'asked' },
  }),
  ...Object.fromEntries(
    ['deepseek-vl*', 'deepseek-ocr*', 'deepseek-janus*', 'deepseek-v4*-vision*', 'deepseek-v4.1*'].map((pattern) => [pattern, deepseek({ vision: true })]),
  ),
  // Always thinks, and takes no word about it.
  'deepseek-reasoner*': deepseek({ thinking: { optional: false }, chat: { reasoning: 'none', demandsReasoning: 'unless-off' } }),
  'deepseek-r1*': deepseek({ thinking: { optional: false }, chat: { reasoning: 'none', demandsReasoning: 'unless-off' } }),
  // From here on thinking is on unless it is turned off, and how much is set by a word: https://api-docs.deepseek.com/guides/thinking_mode
  'deepseek-v4*': deepseek({ like: 'deepseek-v4-pro', ...deepseek4 }),
  'deepseek-pro*': deepseek({ like: 'deepseek-v4-pro', ...deepseek4 }),
  'deepseek-flash*': deepseek({ like: 'deepseek-v4-flash', vision: true, ...deepseek4 }),
  'qwen*': qwen({
    like: 'qwen3-max',
    ...{ thinksBeside: true, vision: false, pdf: false },
    thinking: { style: 'budget', min: 1, max: 81_920 },
    replaysReasoning: 'with-calls',
    begunReply: 'partial',
    chat: { reasoning: 'enable-thinking', topK: true, requiredChoice: false, jsonArguments: true, refusesForcedThinking: 'asked' },
  }),
  // One model for text and images; it thinks by default.
  ...Object.fromEntries([5, 6, 7, 8, 9].map((minor) => [`qwen3.${minor}*`, qwen({ vision: true, chat: { refusesForcedThinking: 'unless-off' } })])),
  'qwen*-vl*': qwen({ vision: true }),
  'qwen*-omni*': qwen({ vision: true, streamsOnly: true }),
  'qwen3*': qwen({ converse: { structuredOutput: true } }),
  'qwen3-*-thinking*': qwen({ thinking: { optional: false } }),
  // The open weights of that generation reason by default, and only in streams.
  ...Object.fromEntries(
    ['0.6b', '1.7b', '4b', '8b', '14b', '32b', '30b-a3b', '235b-a22b'].map((size) => [
      `qwen3-${size}`,
      qwen({ streamsOnly: true, thinking: { max: 38_912 }, chat: { refusesForcedThinking: 'unless-off' } }),
    ]),
  ),
  'qwen-turbo*': qwen({ thinking: { max: 38_912 } }),
  'qwen3.6-flash*': qwen({ thinking: { max: 131_072 } }),
  'qwen3.6-max*': qwen({ thinking: { max: 131_072 } }),
  'qwen3-coder*': qwen({ thinking: { style: 'none' } }),
  ...Object.fromEntries(
    ['qwq*', 'qvq*'].map((pattern) => [
      pattern,
      qwen({
        ...{ thinksBeside: true, vision: pattern === 'qvq*', pdf: false },
        ...{ thinking: { style: 'adaptive', optional: false }, streamsOnly: true, replaysReasoning: 'with-calls', begunReply: 'partial' },
        chat: { reasoning: 'enable-thinking', topK: true, requiredChoice: false, jsonArguments: true, refusesForcedThinking: 'asked' },
      }),
    ]),
  ),
  'kimi*': kimi({
    like: 'kimi-k2.5',

    pdf: false,
    replaysReasoning: 'always',
    begunReply: 'partial',
    thinking: { style: 'adaptive' },
    sampling: { maxTemperature: 1 },
    chat: { ...kimiChat, demandsReasoning: 'asked' },
  }),
  ...kimiRows(['kimi-thinking*', 'kimi-k2-thinking*'], { thinking: { optional: false }, chat: { demandsReasoning: 'unless-off' } }),
  ...kimiRows(['kimi-k2.5*', 'kimi-k2.6*', 'kimi-for-coding*'], { chat: kimiThinks }),
  ...kimiRows(['kimi-k2.7*'], { thinking: { optional: false }, chat: kimiThinks }),
  // Always thinks, how much is set by a word: https://platform.kimi.ai/docs/guide/use-reasoning-effort
  ...kimiRows(['kimi-k3*', 'k3', 'k3-*'], {
    ...{ like: 'kimi-k3', pdf: false, replaysReasoning: 'always', begunReply: 'partial' },
    thinking: { style: 'effort', efforts: ['low', 'high', 'max'], optional: false },
    chat: { ...kimiChat, ...kimiThinks, reasoning: 'effort', refusesForcedThinking: 'never', namedChoice: false },
  }),
  'moonshot*': kimi({
    ...{ pdf: false, thinking: { style: 'none' }, sampling: { maxTemperature: 1 } },
    ...{ replaysReasoning: 'always', begunReply: 'partial', chat: kimiChat },
  }),
  'glm*': glm({
    like: 'glm-5',

    vision: false,
    pdf: false,
    structuredOutput: 'emulate',
    replaysReasoning: 'always',
    thinking: { style: 'adaptive' },
    sampling: { maxTemperature: 1 },
    chat: { reasoning: 'thinking-type', jsonSchema: false },
  }),
  ...Object.fromEntries(['4', '4.1', '4.5', '4.6', '4.7', '5'].map((version) => [`glm-${version}v*`, glm({ vision: true })])),

  // https://docs.z.ai/guides/capabilities/thinking
  'glm-5.2*': glmNewer({ thinking: { efforts: ['high', 'max'] } }),
  'glm-5.3*': glmNewer({ like: 'glm-5.3', thinking: { efforts: ['low', 'high', 'max'], optional: false } }),
  'glm-5.3-flash*': glmNewer({ like: 'glm-5.3-flash', vision: true }),

  // Takes one system message alone, at the beginning: https://github.com/can1357/oh-my-pi/pull/954
  'minimax*': minimax({ like: 'minimax-m2.5', vision: false, pdf: false, replaysReasoning: 'tags', chat: { laterSystem: false } }),
  'minimax-m3*': minimax({ like: 'minimax-m3', vision: true }),

  // ---- Mistral, Llama, Grok, Cohere
  'mistral*': mistral(mistralBase),
  ...Object.fromEntries(
    ['mistral-small-latest', 'mistral-small-2603*', 'mistral-medium-2604*', 'mistral-medium-3-5*', 'mistral-medium-3.5*'].map((pattern) => [
      pattern,
      mistral(mistralThinks),
    ]),
  ),
  'mistral-large-4*': mistralNewer({ thinking: { style: 'effort', efforts: words, optional: false }, chat: { reasoning: 'effort' } }),
  'mistral-7b*': mistral(firstMistral),
  'mixtral*': mistral(firstMistral),
  'open-mi*': mistral({ ...mistralBase, vision: false }),
  'ministral*': mistral(mistralBase),
  'pixtral*': mistral(mistralBase),
  'codestral*': mistral({ ...mistralBase, vision: false }),
  'devstral*': mistral({ ...mistralBase }),
  ...Object.fromEntries(['2505', '2507'].map((date) => [`devstral-*-${date}`, mistral({ vision: false })])),
  // Always thinks, and takes no word about how much.
  'magistral*': mistral({ ...mistralBase, thinking: { style: 'adaptive', optional: false } }),
  'llama*': llama({
    like: 'llama3-3-70b-instruct',
    ...{ vision: false, pdf: false, structuredOutput: 'emulate', thinking: { style: 'none' } },
    converse: { toolChoices: ['auto'], streamsTools: false },
  }),
  ...Object.fromEntries(['llama-3.2-11b*', 'llama-3.2-90b*', 'llama3-2-11b*', 'llama3-2-90b*'].map((pattern) => [pattern, llama({ vision: true })])),
  'llama-4*': llama({ like: 'llama4-scout-17b-instruct', vision: true }),
  'llama4*': llama({ like: 'llama4-scout-17b-instruct', vision: true }),
  'grok*': grok({ like: 'grok-4.3', pdf: false }),
  // Does not think, and refuses every word about it.
  'grok-3*': grok({ vision: false, thinking: { style: 'none' }, chat: { reasoning: 'none' } }),
  'grok-3-mini*': grok({ thinking: { style: 'effort', efforts: ['low', 'high'], optional: false }, chat: { ...grokThinks, reasoning: 'effort' } }),
  // These always think, and take no word about how much.
  'grok-4*': grok({ thinking: { style: 'adaptive', optional: false }, chat: { ...grokThinks, reasoning: 'none' } }),
  // From 4.3 on the effort is set by a word.
  'grok-4.3*': grok({ thinking: { style: 'effort', efforts: words, optional: true }, chat: { reasoning: 'effort' } }),
  'grok-4.5*': grok({ thinking: { style: 'effort', efforts: words, optional: false }, chat: { reasoning: 'effort' } }),
  // Those that follow are taken for what the last known one is.
  ...Object.fromEntries(
    [6, 7, 8, 9].map((minor) => [
      `grok-4.${minor}*`,
      grok({ thinking: { style: 'effort', efforts: [...words, 'xhigh'], optional: false }, chat: { reasoning: 'effort' } }),
    ]),
  ),
  'grok-code*': grok({ vision: false, thinking: { style: 'adaptive', optional: false }, chat: { ...grokThinks, reasoning: 'none' } }),
  'grok-4*non-reasoning*': grok({ thinking: { style: 'none' }, chat: { maxStops: null, penalties: true } }),
  'command*': cohere({ like: 'command-a', pdf: false, thinking: { style: 'none' }, converse: { toolChoices: ['auto'] } }),
};
