/** Configurations of other gateways: what is made of them, and that no key of theirs is passed over in silence. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import zh from '@model-gateway/contracts/fault-texts/zh.json' with { type: 'json' };
import fc from 'fast-check';
import { parse as parseYaml } from 'yaml';
import { convertForeign, type Finding } from '../src/transfer/foreign/index.ts';
import { sayFault, setFaultTexts } from '../web/src/i18n/fault-texts.ts';
import { api, type FreshHarness, startFreshConsole } from './harness.ts';

const litellm = `
model_list:
  - model_name: fast
    litellm_params: { model: openai/gpt-4o-mini, api_key: os.environ/OPENAI_API_KEY, rpm: 600, temperature: 0.2 }
    model_info: { id: a, input_cost_per_token: 0.00000015, output_cost_per_token: 0.0000006 }
  - model_name: fast
    litellm_params: { model: groq/llama-3.3-70b-versatile, api_key: gsk-plain, rpm: 300 }
  - model_name: smart
    litellm_params: { model: anthropic/claude-sonnet-4-5, api_key: os.environ/ANTHROPIC_API_KEY, timeout: 30, extra_headers: { x-team: research } }
  - model_name: local
    litellm_params: { model: hosted_vllm/qwen3, api_base: "http://localhost:8000/v1/", max_parallel_requests: 4 }
  - model_name: "gemini/*"
    litellm_params: { model: "gemini/*", api_key: os.environ/GEMINI_API_KEY }
  - model_name: cloud
    litellm_params: { model: bedrock/anthropic.claude-3, aws_region_name: us-east-1 }
router_settings:
  routing_strategy: simple-shuffle
  model_group_alias: { default: smart }
  num_retries: 2
  redis_host: os.environ/REDIS_HOST
litellm_settings:
  fallbacks: [{ smart: [fast, local] }]
  drop_params: true
  cache: true
search_tools:
  - search_tool_name: web
    litellm_params: { search_provider: tavily, api_key: os.environ/TAVILY_API_KEY, timeout: 30 }
general_settings:
  master_key: os.environ/LITELLM_MASTER_KEY
  database_url: os.environ/DATABASE_URL
environment_variables: { SOME_VALUE: x }
`;

const channel = (change: object) => ({
  id: 1,
  type: 1,
  key: 'sk-a\nsk-b',
  status: 1,
  name: 'openai',
  weight: 2,
  created_time: 1,
  test_time: 1,
  response_time: 10,
  base_url: '',
  other: '',
  balance: 0,
  models: 'gpt-4o,gpt-4o-mini',
  group: 'default,vip',
  used_quota: 5,
  model_mapping: '{"gpt-4o":"gpt-4o-2024-11-20"}',
  status_code_mapping: '',
  priority: 10,
  auto_ban: 1,
  tag: null,
  ...change,
});
const newApi = {
  channels: [
    channel({}),
    channel({
      id: 2,
      name: 'backup',
      type: 8,
      base_url: 'https://proxy.example.com/v1/',
      key: '["k1","k2"]',
      models: 'gpt-4o',
      group: 'default',
      model_mapping: '',
      priority: 0,
      param_override: '{"temperature":0}',
      header_override: '{"x-a":"b"}',
    }),
    channel({ id: 3, name: 'cloud', type: 33, models: 'claude' }),
  ],
  tokens: [
    {
      id: 1,
      user_id: 1,
      key: 'abcdefghijklmnopqrst',
      status: 1,
      name: 'ada',
      created_time: 1,
      accessed_time: 1,
      expired_time: -1,
      remain_quota: 2_500_000,
      unlimited_quota: 0,
      model_limits_enabled: 0,
      model_limits: '',
      allow_ips: '',
      used_quota: 0,
      group: '',
    },
    {
      id: 2,
      user_id: 1,
      key: 'bcdefghijklmnopqrstu',
      status: 2,
      name: 'ci',
      expired_time: 1_893_456_000,
      remain_quota: 0,
      unlimited_quota: 1,
      model_limits_enabled: 1,
      model_limits: 'gpt-4o',
      allow_ips: '10.0.0.1',
      group: 'vip',
    },
  ],
  options: { ModelRatio: '{"gpt-4o":1.25}' },
  logs: '120 rows',
};

test('LiteLLM: models, balancers, fallbacks, prices and keys', () => {
  const { file, findings } = convertForeign('litellm', litellm);
  expect(file).toMatchObject({
    upstreams: [
      { name: 'openai', protocol: 'alpha', base_url: 'https://api.openai.com', api_keys: [{ key: '${OPENAI_API_KEY}' }] },
      { name: 'groq', base_url: 'https://api.groq.com/openai', api_keys: [{ key: 'gsk-plain' }] },
      { name: 'anthropic', protocol: 'beta', timeouts: { total_ms: 30_000 }, custom_headers: { 'x-team': 'research' } },
      { name: 'hosted_vllm', base_url: 'http://localhost:8000/v1', api_keys: [] },
    ],
    models: [
      {
        name: 'fast--1',
        upstream: 'openai',
        upstream_model_id: 'gpt-4o-mini',
        hide_name: true,
        request_body_rules: [{ mode: 'add-if-absent', path: 'temperature', value: 0.2 }],
      },
      { name: 'fast--2', upstream_model_id: 'llama-3.3-70b-versatile' },
      { name: 'smart--1', upstream_model_id: 'claude-sonnet-4-5' },
      { name: 'local', upstream_model_id: 'qwen3', rate_limit: { max_concurrency: 4 } },
    ],
    pricing: [{ model: 'fast--1', input: '0.15', output: '0.6' }],
    load_balancers: [
      {
        name: 'fast',
        strategy: 'weighted',
        entries: [
          { model: 'fast--1', weight: 600 },
          { model: 'fast--2', weight: 300 },
        ],
      },
      {
        name: 'smart',
        aliases: ['default'],
        strategy: 'priority',
        entries: [{ model: 'smart--1' }, { model: 'fast--1' }, { model: 'fast--2' }, { model: 'local' }],
      },
    ],
    access_keys: [{ name: 'litellm-master', key: '${LITELLM_MASTER_KEY}' }],
  });
  const by = (path: string) => findings.find(({ source_path }) => source_path === path)?.status;
  expect(by('litellm_settings.cache')).toBe('unsupported');
  expect(by('general_settings.database_url')).toBe('manual');
  expect(by('model_list[4].model_name')).toBe('manual');
  expect(by('model_list[5].litellm_params.aws_region_name')).toBe('manual');
  expect(by('model_list[0].litellm_params.rpm')).toBe('approximate');
  expect(by('model_list[2].litellm_params.model')).toBe('exact');
  // A limit of the other strategies is one here.
  expect(convertForeign('litellm', litellm.replace('simple-shuffle', 'usage-based-routing-v2')).file).toMatchObject({
    models: [{ rate_limit: { rpm: 600 } }, {}, {}, {}],
  });
});

/** What is made of more of LiteLLM's models, routing and search tools, and the status of what was found at a path. */
function convertLitellm(text: string) {
  const { file, findings } = convertForeign('litellm', text);
  return { file, statusOf: (path: string) => findings.find(({ source_path }) => source_path === path)?.status };
}

test('LiteLLM: a model whose name tells its provider goes there, and its key nowhere else', () => {
  const { file, statusOf } = convertLitellm(`
model_list:
  - { model_name: a, litellm_params: { model: claude-sonnet-4-5, api_key: sk-of-anthropic } }
  - { model_name: b, litellm_params: { model: gpt-4o, api_key: sk-of-openai } }
  - { model_name: c, litellm_params: { model: gemini-2.5-pro, api_key: sk-of-google } }
  - { model_name: d, litellm_params: { model: os.environ/MODEL, api_key: sk-of-somebody } }`);
  expect(file['upstreams']).toMatchObject([
    { base_url: 'https://api.anthropic.com', api_keys: [{ key: 'sk-of-anthropic' }] },
    { base_url: 'https://api.openai.com', api_keys: [{ key: 'sk-of-openai' }] },
  ]);
  expect([2, 3].map((at) => statusOf(`model_list[${at}].litellm_params.api_key`))).toEqual(['manual', 'manual']);
});

test('LiteLLM: half a price is none, but of what only reads', () => {
  const { file, statusOf } = convertLitellm(`
model_list:
  - { model_name: a, litellm_params: { model: openai/gpt-4o, api_key: x, input_cost_per_token: 0.000001 } }
  - { model_name: b, litellm_params: { model: openai/text-embedding-3-small, api_key: x }, model_info: { mode: embedding, input_cost_per_token: 0.00000002 } }`);
  expect(file['pricing']).toEqual([{ model: 'b', input: '0.02', output: '0' }]);
  expect(statusOf('model_list[0].litellm_params.input_cost_per_token')).toBe('manual');
  expect(statusOf('model_list[1].model_info.input_cost_per_token')).toBe('exact');
});

test('LiteLLM: aliases and fallbacks of which nothing can be made are said to be, those by way of an alias are made', () => {
  const { file, statusOf } = convertLitellm(`
model_list:
  - { model_name: a, litellm_params: { model: openai/gpt-4o, api_key: x } }
  - { model_name: b, litellm_params: { model: openai/gpt-4o-mini, api_key: x } }
router_settings:
  model_group_alias: { other: b, b: a, lost: nowhere }
  fallbacks: [{ a: [other, nowhere] }, { "*": [a] }, { b: [b] }]`);
  expect(file).toMatchObject({
    models: [{ name: 'a--1' }, { name: 'b', aliases: ['other'] }],
    load_balancers: [{ name: 'a', strategy: 'priority', entries: [{ model: 'a--1' }, { model: 'b' }] }],
  });
  const at = (path: string) => statusOf(`router_settings.${path}`);
  expect(['model_group_alias.other', 'model_group_alias.b', 'model_group_alias.lost'].map(at)).toEqual(['exact', 'manual', 'manual']);
  expect(['fallbacks[0].a', 'fallbacks[1]["*"]'].map(at)).toEqual(['manual', 'manual']);
});

test('LiteLLM: search tools become search providers where the service is known here', () => {
  const { file, statusOf } = convertLitellm(`
search_tools:
  - { search_tool_name: t, litellm_params: { search_provider: tavily, api_base: "https://tavily.example.com/" }, search_tool_info: { description: News } }
  - { search_tool_name: t, litellm_params: { search_provider: brave, api_key: os.environ/BRAVE } }
  - { search_tool_name: s, litellm_params: { search_provider: searxng } }
  - { search_tool_name: p, litellm_params: { search_provider: perplexity, api_key: x } }`);
  expect(file['search_providers']).toEqual([
    { name: 't', kind: 'tavily', base_url: 'https://tavily.example.com/search', api_key: '${TAVILY_API_KEY}', description: 'News' },
    { name: 't-2', kind: 'brave', api_key: '${BRAVE}' },
    { name: 's', kind: 'searxng', base_url: '${SEARXNG_API_BASE}' },
  ]);
  expect(statusOf('search_tools[0].litellm_params.search_provider')).toBe('exact');
  expect(statusOf('search_tools[3].litellm_params.api_key')).toBe('manual');
});

test.each(['constructor', '__proto__', 'toString', { toString: 1 }])('LiteLLM: %j is no provider, strategy or search service', (name) => {
  const text = JSON.stringify({
    model_list: [
      { model_name: 'a', litellm_params: { model: typeof name === 'string' ? `${name}/x` : name } },
      { model_name: 'b', litellm_params: { model: 'openai/x', custom_llm_provider: name, api_key: 'sk-1' } },
    ],
    router_settings: { routing_strategy: name },
    search_tools: [{ search_tool_name: 'web', litellm_params: { search_provider: name, api_key: 'tvly-1' } }],
  });
  const { file, findings } = convertForeign('litellm', text);
  expect((file['models'] as { name: string }[] | undefined)?.map((model) => model.name) ?? []).not.toContain('a');
  expect(file['search_providers'] ?? []).toEqual([]);
  expect(findings).toContainEqual(expect.objectContaining({ source_path: expect.stringMatching(/^router_settings\.routing_strategy/), status: 'approximate' }));
});

test('new-api: channels, tiers, groups, tokens and quotas', () => {
  const { file, findings } = convertForeign('new-api', JSON.stringify(newApi));
  expect(file).toMatchObject({
    upstreams: [
      { name: 'openai', base_url: 'https://api.openai.com', api_keys: [{ key: 'sk-a' }, { key: 'sk-b' }] },
      {
        name: 'backup',
        base_url: 'https://proxy.example.com/v1',
        api_keys: [{ key: 'k1' }, { key: 'k2' }],
        custom_headers: { 'x-a': 'b' },
        request_body_rules: [{ mode: 'overwrite', path: 'temperature', value: 0 }],
      },
    ],
    models: [
      { name: 'gpt-4o--openai', upstream_model_id: 'gpt-4o-2024-11-20', hide_name: true },
      { name: 'gpt-4o--backup', upstream_model_id: 'gpt-4o' },
      { name: 'gpt-4o-mini', upstream: 'openai' },
    ],
    load_balancers: [{ name: 'gpt-4o', strategy: 'priority', entries: [{ model: 'gpt-4o--openai' }, { model: 'gpt-4o--backup' }] }],
    key_groups: [{ name: 'default', models: ['gpt-4o', 'gpt-4o-mini'] }, { name: 'vip' }, { name: 'vip--ci', models: ['gpt-4o'] }],
    access_keys: [
      { name: 'ada', key: 'sk-abcdefghijklmnopqrst', group: 'default', budget: { limit: '5.000000', period: 'total' } },
      { name: 'ci', group: 'vip--ci', enabled: false, expires_at: '2030-01-01T00:00:00.000Z' },
    ],
  });
  const by = (path: string) => findings.find(({ source_path }) => source_path === path)?.status;
  expect([by('channels[2].key'), by('tokens[1].allow_ips'), by('options.ModelRatio'), by('logs'), by('tokens[0].remain_quota')]).toEqual([
    'manual',
    'unsupported',
    'manual',
    'unsupported',
    'approximate',
  ]);
});

const sources: [Parameters<typeof convertForeign>[0], unknown][] = [
  ['litellm', parseYaml(litellm)],
  ['new-api', newApi],
  ['one-api', newApi],
];

/** Places where a key can be added: every object of the source. */
function objectsIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  return [...(Array.isArray(value) ? [] : [value as Record<string, unknown>]), ...Object.values(value).flatMap(objectsIn)];
}

const paths = (findings: readonly Finding[]): string[] => findings.map(({ source_path }) => source_path);

test.each(sources)('%s: any key that is added anywhere is reported, each exactly once', (source, original) => {
  const before = new Set(paths(convertForeign(source, JSON.stringify(original)).findings));
  fc.assert(
    fc.property(
      fc.nat(),
      fc.stringMatching(/^[a-z_]{3,12}$/),
      fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.record({ inner: fc.boolean() })),
      (pick, name, value) => {
        const changed: unknown = structuredClone(original);
        const places = objectsIn(changed);
        const place = places[pick % places.length]!;
        if (Object.hasOwn(place, name)) return;
        place[name] = value;
        const after = paths(convertForeign(source, JSON.stringify(changed)).findings);
        expect(new Set(after).size).toBe(after.length);
        const added = after.filter((path) => !before.has(path));
        expect(added).toHaveLength(1);
        expect(added[0]).toContain(name);
      },
    ),
    { numRuns: 150 },
  );
});

test('no finding quotes a value', () => {
  for (const [source, original] of sources) {
    const text = JSON.stringify(convertForeign(source, JSON.stringify(original)).findings);
    for (const secret of ['gsk-plain', 'sk-a', 'k1', 'abcdefghijklmnopqrst']) expect(text).not.toContain(`${secret}"`);
  }
});

test.each(['[1, 2]', 'a: [', 'just words', ''])('%j is refused', (text) => {
  expect(() => convertForeign('litellm', text)).toThrow('is n');
});

const refusalOf = (source: Parameters<typeof convertForeign>[0], text: string): string => {
  try {
    convertForeign(source, text);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it was taken');
};

test('what is said of each key, and of a file that is refused, is said in Chinese too, and of a file', () => {
  const dump = 'CREATE TABLE `tokens` (\n  `id` int\n);\nINSERT INTO `tokens` VALUES';
  const refusals = [
    ...['[1, 2]', 'a: [', 'just words', '', 'a: 1\na: 2', 'a: *b', '['.repeat(300), `a: &b 1\nc: [${'*b,'.repeat(5_001)}]`].map((text) =>
      refusalOf('litellm', text),
    ),
    ...['[]', dump, `${dump} (1, 2);`, `${dump} ('`, `${dump} (x)`].map((text) => refusalOf('new-api', text)),
    refusalOf('one-api', dump.replaceAll('tokens', 'others').concat(' (1);')),
  ];
  for (const said of refusals) expect(said).not.toMatch(/body|send/);
  const findings = [...sources, ...noUpstreams].flatMap(([source, original]) => convertForeign(source, JSON.stringify(original)).findings);
  const messages = new Set([...refusals, ...findings.map(({ message }) => message)]);
  setFaultTexts(zh);
  const untold = [...messages].filter((message) => !/\p{Script=Han}/u.test(sayFault(message)));
  setFaultTexts({});
  expect(untold).toEqual([]);
  expect(messages.size).toBeGreaterThan(60);
});

/** Of which nothing, or little, is made. */
const noUpstreams: typeof sources = [
  [
    'litellm',
    {
      model_list: [{}, { model_name: 'a', litellm_params: { model: 'os.environ/M' } }, { model_name: 'b', litellm_params: { model: 'azure/x' } }],
      router_settings: {
        routing_strategy: 'cost-based-routing',
        timeout: 1,
        max_fallbacks: 1,
        allowed_fails: 1,
        content_policy_fallbacks: 1,
        default_fallbacks: 1,
      },
      litellm_settings: {
        set_verbose: true,
        json_logs: true,
        callbacks: ['a'],
        telemetry: true,
        max_budget: 1,
        modify_params: true,
        fallbacks: [{ x: ['y'] }],
      },
      general_settings: { store_model_in_db: true, ui_username: 'a', max_parallel_requests: 1, global_max_parallel_requests: 1, context_window_fallbacks: 1 },
      search_tools: [{ search_tool_name: 'a', litellm_params: { search_provider: 'other' } }],
      mcp_servers: { a: {} },
    },
  ],
  [
    'new-api',
    {
      channels: [{ type: 9999 }, { type: 1, base_url: 'nowhere', key: 'k' }],
      tokens: [{ name: 'none' }, { key: 'k', deleted_at: 'then' }],
      users: [{ id: 1 }],
    },
  ],
];

let harness: FreshHarness;
beforeAll(async () => {
  harness = await startFreshConsole();
});
afterAll(() => harness?.close());

test('a file that would be too long as YAML is given as JSON, which the import takes', async () => {
  const channels = [{ type: 1, name: 'long', key: 'sk-a', models: 'm', group: 'default', param_override: { note: 'x'.repeat(2.1 * 1024 * 1024) } }];
  const { status, body } = await harness.call('POST', `${api}/import/convert`, { source: 'new-api', text: JSON.stringify({ channels }) });
  expect([status, body.error]).toEqual([200, undefined]);
  expect(JSON.parse(body.file)).toMatchObject({ version: 2, upstreams: [{ name: 'long' }] });
});

test.each(['litellm', 'new-api'] as const)('%s: what the console makes of it is taken by the import, and exported again', async (source) => {
  const text = source === 'litellm' ? litellm : JSON.stringify(newApi);
  const converted = await harness.call('POST', `${api}/import/convert`, { source, text });
  expect(converted.status).toBe(200);
  expect(converted.body.findings.length).toBeGreaterThan(20);
  // As `apply` does, with an environment of its own. The address of a machine inside the network is refused without a setting that allows it.
  const file = parseYaml(
    converted.body.file.replaceAll(/\$\{(\w+)\}/g, 'value-of-$1-0123456789').replaceAll('http://localhost:8000', 'https://vllm.example.com'),
  );
  const taken = await harness.call('POST', `${api}/import`, file);
  expect([taken.status, taken.body.error]).toEqual([200, undefined]);
  const { body: exported } = await harness.call('GET', `${api}/export`);
  expect(exported.models.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(file.models.map(({ name }: { name: string }) => name)));
  const again = await harness.call('POST', `${api}/import`, exported);
  expect([again.status, again.body.total_changes]).toEqual([200, 0]);
  const refused = await harness.call('POST', `${api}/import/convert`, { source, text: 'a: [' });
  expect([refused.status, refused.body.error.details[0].field]).toEqual([422, 'text']);
});
