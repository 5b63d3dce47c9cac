import { describe, expect, test } from '@jest/globals';
import { parse as parseToml } from 'smol-toml';
import { parse as parseYaml } from 'yaml';
import { clients, dialects, type FileStep, findClient, printEnvironment, printStep, retriesBrokenStreams, retryingClients, type Values } from './index.ts';

const facts = { baseUrl: 'http://gateway:7890', key: 'gk-secret', model: 'smart' };
/** A name that ends strings, opens shell substitutions and breaks lines out of YAML. */
const hostile = `a"b'c $(x) \`y\` # z: \\ é`;

describe('the table of clients', () => {
  test('has each client once', () => {
    const ids = clients.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test.each(clients.map((client) => [client.id, client] as const))('the steps of %s contain address, key and model', (_id, client) => {
    const text = client.steps(facts).map(printStep).join('\n');
    expect(text).toContain('gateway:7890');
    expect(text).toContain('gk-secret');
    if (client.id !== 'open-webui') expect(text).toContain('smart');
    expect(client.steps(facts).every((step) => step.kind !== 'file' || step.path.startsWith('~/'))).toBe(true);
  });

  test('addresses have the version segment where the client adds none', () => {
    const textOf = (id: string) => findClient(id)!.steps(facts).map(printStep).join('\n');
    expect(textOf('openai-js')).toContain('"http://gateway:7890/v1"');
    expect(textOf('anthropic-js')).toContain('"http://gateway:7890"');
    expect(textOf('gemini-js')).toContain('"http://gateway:7890"');
    expect(textOf('codex')).toContain('base_url = "http://gateway:7890/v1"');
  });
});

test('settings of agents contain the size of the model, where it is known', () => {
  const textOf = (id: string, limits?: { context?: number; input?: number; output?: number }, step = 0) =>
    printStep(findClient(id)!.steps({ ...facts, limits })[step]!);
  expect(textOf('codex', { context: 200_000 })).toContain('model_context_window = 200000');
  // What counts is how much a prompt may fill.
  const apart = { context: 400_000, input: 272_000, output: 128_000 };
  expect(textOf('codex', apart)).toContain('model_context_window = 272000');
  expect(JSON.parse(textOf('claude-code', apart)).env).toMatchObject({ CLAUDE_CODE_MAX_CONTEXT_TOKENS: '272000' });
  expect(textOf('claude-code')).not.toContain('CONTEXT_TOKENS');
  expect(JSON.parse(textOf('opencode', apart)).provider.gateway.models.smart.limit).toEqual(apart);
  expect(JSON.parse(textOf('opencode', { ...apart, input: 400_000 })).provider.gateway.models.smart.limit).toEqual({ context: 400_000, output: 128_000 });
  // Half of the prompt, as a part of the million that Gemini CLI takes for the window of every model.
  expect(JSON.parse(textOf('gemini-cli', apart, 1)).model).toEqual({ name: 'smart', compressionThreshold: 0.13 });
  expect(JSON.parse(textOf('gemini-cli', { context: 1_048_576 }, 1)).model).toEqual({ name: 'smart' });
  expect(JSON.parse(textOf('opencode', { context: 200_000, output: 64_000 })).provider.gateway.models.smart.limit).toEqual({
    context: 200_000,
    output: 64_000,
  });
  expect(textOf('kimi-code', apart)).toContain('max_context_size = 272000');
  // It does not start with a model of no size.
  expect(textOf('kimi-code')).toContain('max_context_size = 128000');
  expect(JSON.parse(textOf('pi', apart)).providers.gateway.models).toEqual([{ id: 'smart', name: 'smart', contextWindow: 272_000, maxTokens: 128_000 }]);
  expect(JSON.parse(textOf('pi')).providers.gateway.models).toEqual([{ id: 'smart', name: 'smart' }]);
  // Both or none: OpenCode takes no half.
  expect(JSON.parse(textOf('opencode', { context: 8000 })).provider.gateway.models.smart.limit).toEqual({ context: 8000, output: 8000 });
  expect(JSON.parse(textOf('opencode', { output: 8000 })).provider.gateway.models.smart).toEqual({ name: 'smart' });
});

test('helpers of Gemini CLI use the model that it is given', () => {
  const { modelConfigs } = JSON.parse(printStep(findClient('gemini-cli')!.steps(facts)[1]!));
  expect(modelConfigs.customAliases).toMatchObject({
    'gemini-3-flash-base': { extends: 'base', modelConfig: { model: 'smart' } },
    'chat-compression-default': { modelConfig: { model: 'smart' } },
  });
});

test.each([
  ['claude-code', '~/.claude.json', (values: Values) => (values['mcpServers'] as Values)['gateway']],
  ['codex', '~/.codex/config.toml', (values: Values) => (values['mcp_servers'] as Values)['gateway']],
  ['gemini-cli', '~/.gemini/settings.json', (values: Values) => (values['mcpServers'] as Values)['gateway']],
  ['opencode', '~/.config/opencode/opencode.json', (values: Values) => (values['mcp'] as Values)['gateway']],
  ['kimi-code', '~/.kimi-code/mcp.json', (values: Values) => (values['mcpServers'] as Values)['gateway']],
])('%s is given the address of tools where the key may use some', (id, path, entryOf) => {
  const filesOf = (tools: boolean) =>
    findClient(id)!
      .steps({ ...facts, tools })
      .flatMap((step) => (step.kind === 'file' ? [step] : []));
  const entry = JSON.stringify(entryOf(filesOf(true).find((file) => file.path === path)!.values));
  expect(entry).toContain('http://gateway:7890/mcp?separator=__');
  expect(entry).toMatch(/Bearer gk-secret|MODEL_GATEWAY_KEY/);
  expect(JSON.stringify(filesOf(false))).not.toContain('/mcp');
});

test('clients that retry by themselves are the same in the table of clients and in the one of user agents', () => {
  expect(clients.filter((client) => client.retriesBrokenStreams).map(({ name }) => name.split(' ')[0])).toEqual(
    retryingClients.map(({ name }) => name.split(' ')[0]),
  );
});

test.each([
  ['claude-cli/2.1.330 (external, sdk-cli)', true],
  ['codex_exec/0.169.0 (Debian 12.0.0; x86_64) unknown', true],
  ['GeminiCLI/0.61.0/gemini-3-pro-preview (linux; x64; terminal)', true],
  ['GeminiCLI-tui/0.61.0/gemini-3-pro-preview (linux; x64; terminal)', true],
  ['opencode/1.18.33 ai-sdk/provider-utils/4.0.0 runtime/bun/1.3.0', true],
  ['kimi-code-cli/2.1.0', true],
  ['pi/1.6.0 (linux; node/v24.21.0; x64)', true],
  ['pip/26.0 {"ci":null}', false],
  ['claude-code-gateway/1.0', false],
  ['curl/8.0', false],
  ['', false],
])('whether %p repeats a broken stream: %p', (userAgent, repeats) => {
  expect(retriesBrokenStreams(userAgent)).toBe(repeats);
});

describe('printing', () => {
  test('a hostile name stays one value in every language', () => {
    const textOf = (id: string) => printStep(findClient(id)!.steps({ ...facts, model: hostile })[0]!);
    expect(textOf('openai-js')).toContain(JSON.stringify(hostile));
    expect(textOf('openai-python')).toContain(JSON.stringify(hostile));
    expect(textOf('continue')).toContain(`name: ${JSON.stringify(hostile)}`);
    expect(JSON.parse(textOf('opencode')).model).toBe(`gateway/${hostile}`);
    expect(textOf('curl-chat')).toContain(
      `-d '${JSON.stringify({ model: hostile, messages: [{ role: 'user', content: 'Say hello.' }] }).replaceAll("'", `'\\''`)}'`,
    );
  });

  test('files are read as the values they were printed from', () => {
    const readers = { json: JSON.parse, toml: parseToml, yaml: (text: string) => parseYaml(text, { version: '1.1' }) };
    const files = clients
      .flatMap((client) => ['smart', 'on', '12:30', hostile].flatMap((model) => client.steps({ ...facts, model })))
      .filter((step) => step.kind === 'file' && step.format !== 'env') as (FileStep & { format: keyof typeof readers })[];
    expect(new Set(files.map(({ format }) => format))).toEqual(new Set(['json', 'toml', 'yaml']));
    for (const file of files) expect(readers[file.format](printStep(file))).toEqual(file.values);
  });

  test('shell values are quoted when they must be', () => {
    expect(printEnvironment({ ONE: 'http://h:1/v1', TWO: "it's $HOME" })).toBe("export ONE=http://h:1/v1\nexport TWO='it'\\''s $HOME'");
  });

  test('names in paths are encoded, slashes stay', () => {
    expect(dialects.generate.call({ ...facts, model: 'vendor/m?x' }, 'hi').url).toBe('http://gateway:7890/v1beta/models/vendor/m%3Fx:generateContent');
  });

  test('tables of TOML come after their values', () => {
    expect(printStep(findClient('codex')!.steps(facts)[0]!)).toBe(
      'model = "smart"\nmodel_provider = "gateway"\n\n[model_providers.gateway]\nname = "Model gateway"\nbase_url = "http://gateway:7890/v1"\nenv_key = "MODEL_GATEWAY_KEY"\nwire_api = "responses"',
    );
  });
});
