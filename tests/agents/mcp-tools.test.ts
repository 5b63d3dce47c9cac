/**
 * Claude Code and Codex, set up as `model-gateway setup` does it, list and call tools of two MCP servers through the gateway while a third does not answer.
 * Runs with `AGENTS=1`, since it installs the agents.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findClient, printStep } from '@model-gateway/client-setup';
import { ToolServer } from '../fake-mcp/tool-server.ts';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { startGateway, type TestGateway, until } from '../support/gateway.ts';
import type { Agent } from './agents.ts';
import { installAgents } from './install-agents.ts';
import { runAgent } from './run-agent.ts';
import { callsSoFar, toolsOf } from './scripted-agent.ts';

const maxMs = 120_000;
const report = 'REPORT: the tools were called';
const calls = [
  { tool: /weather__get_weather$/, args: { city: 'Oslo' } },
  { tool: /counter__increment$/, args: {} },
] as const;

const searched = ['weather__get_weather', 'counter__increment', 'hung__get_weather'].map((name) => `mcp__gateway__${name}`);

/** As the client of this name is set up; its files go into the home folder. */
const prepared: readonly {
  name: string;
  client: string;
  args: (prompt: string) => string[];
  env: Record<string, string> /** How many tools it offers to the model when it is done. */;
  loads: number;
}[] = [
  {
    name: 'claude',
    client: 'claude-code',
    args: (prompt) => ['-p', prompt, '--dangerously-skip-permissions', '--output-format', 'text'],
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1' },
    loads: 2,
  },
  {
    name: 'codex',
    client: 'codex',
    args: (prompt) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
    env: {},
    loads: 10,
  },
];

describe('agents with tools of MCP servers', () => {
  const [weather, counter, hung] = [new ToolServer('modern'), new ToolServer('stateful'), new ToolServer('modern')];
  let bin: string;
  let gateway: TestGateway;
  let fake: FakeUpstream;
  /** Names of tools that the model was offered. */
  let offered: string[] = [];

  beforeAll(async () => {
    bin = installAgents();
    for (const server of [weather, counter, hung]) await server.start();
    hung.frozen = true;
    fake = await startFakeUpstream({
      play: (body) => {
        const tools = toolsOf(body);
        // Agents also ask for titles and summaries, without tools.
        if (tools.length === 0) return { text: 'A small task' };
        offered = tools.map(({ name }) => name);
        // Claude Code has the model look for tools of servers before it offers them.
        const lookedFirst = offered.includes('ToolSearch');
        const made = callsSoFar(body);
        if (lookedFirst && made === 0) return { call: 'ToolSearch', args: { query: `select:${searched.join(',')}`, max_results: searched.length } };
        const step = calls[made - (lookedFirst ? 1 : 0)];
        const tool = step && tools.find(({ name }) => step.tool.test(name));
        return tool ? { call: tool.name, args: step.args } : { text: report };
      },
    });
    gateway = await startGateway({ arrangement: 'embedded' });
    await gateway.configure({
      upstreams: [{ name: 'fake', protocol: 'alpha', base_url: fake.url, api_keys: [{ key: 'sk-fake' }] }],
      models: [{ name: 'agent', upstream: 'fake', upstream_model_id: 'play' }],
      mcp_servers: [
        { name: 'weather', endpoint: weather.url },
        { name: 'counter', endpoint: counter.url, connection_type: 'stateful' },
        { name: 'hung', endpoint: hung.url },
      ],
      key_groups: [{ name: 'everyone', models: ['*'], mcp_tool_acl: { allowed_tools: ['*'] } }],
    });
    await until(
      async () => (await gateway.console('GET', '/mcp-status')).body.items.filter((one: { tools: number | null }) => one.tools !== null).length === 2,
      'two servers to be known',
    );
  }, 700_000);
  afterAll(async () => {
    await gateway?.stop();
    await fake?.close();
    for (const server of [weather, counter, hung]) server.stop();
  });

  test.each(prepared)(
    '$name lists and calls them',
    async ({ name, client, args, env, loads }) => {
      const [home, work] = ['home', 'work'].map((folder) => mkdtempSync(join(tmpdir(), `agent-${folder}-`))) as [string, string];
      try {
        const setupEnv: Record<string, string> = {};
        for (const step of findClient(client)!.steps({ baseUrl: gateway.url, key: gateway.key, model: 'agent', tools: true })) {
          if (step.kind === 'environment') Object.assign(setupEnv, step.variables);
          if (step.kind !== 'file') continue;
          const file = join(home, step.path.slice(2));
          mkdirSync(dirname(file), { recursive: true });
          writeFileSync(file, printStep(step));
        }
        const agent = { name, launch: ({ prompt }: { prompt: string }) => ({ args: args(prompt), env: { ...env, ...setupEnv } }) } as unknown as Agent;
        const place = { work, home, url: gateway.url, key: gateway.key, model: 'agent', prompt: 'Ask for the weather in Oslo, count once, and report.' };
        const before = (await gateway.rows()).length;
        const { printed } = await runAgent(bin, agent, place, { maxMs });
        expect({ printed, offered: offered.filter((one) => /weather__|counter__|hung__/.test(one)).length }).toEqual({
          printed: expect.stringContaining(report),
          offered: loads,
        });
        const isCall = ({ kind }: { kind: string }): boolean => kind === 'mcp_call';
        await until(async () => (await gateway.rows()).slice(0, -before || undefined).filter(isCall).length >= 2, 'the rows of both calls');
        const made = (await gateway.rows()).slice(0, -before || undefined).filter(isCall);
        expect(made.map(({ upstream, status, error_code }) => [upstream, status, error_code]).sort()).toEqual([
          ['counter', 200, null],
          ['weather', 200, null],
        ]);
      } finally {
        for (const folder of [home, work]) rmSync(folder, { recursive: true, force: true });
      }
    },
    maxMs + 30_000,
  );
});
