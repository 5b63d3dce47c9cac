/**
 * Gemini CLI, set up as `model-gateway setup` does it, searches the web and compacts a conversation: all with the model it was given, where the gateway
 * has none of its vendor's names. Runs with `AGENTS=1`, since it installs the agents.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { agents, writeSetup } from './agents.ts';
import { installAgents } from './install-agents.ts';
import { runAgent } from './run-agent.ts';
import { callsSoFar, toolsOf } from './scripted-agent.ts';

const maxMs = 4 * 60_000;
const report = 'REPORT: it is noon';
const gemini = agents.find(({ name }) => name === 'gemini')!;

let bin: string;
let gateway: TestGateway;
let fake: FakeUpstream;
/** What the model was asked without tools: searches, and summaries of the conversation. */
let asides: string[] = [];

beforeAll(async () => {
  bin = installAgents();
  fake = await startFakeUpstream({
    play: (body) => {
      const search = toolsOf(body).find(({ name }) => name === 'google_web_search');
      if (search) return callsSoFar(body) === 0 ? { call: search.name, args: { query: 'what time is it' } } : { text: report };
      asides.push(JSON.stringify(body));
      return { text: '<state_snapshot>It is noon.</state_snapshot>' };
    },
  });
  gateway = await startGateway({ arrangement: 'embedded' });
  await gateway.configure({
    upstreams: [{ name: 'fake', protocol: 'alpha', base_url: fake.url, api_keys: [{ key: 'sk-fake' }] }],
    models: [{ name: 'agent', upstream: 'fake', upstream_model_id: 'play' }],
  });
}, 700_000);
afterAll(async () => {
  await gateway?.stop();
  await fake?.close();
});

test(
  'Gemini CLI searches and compacts with the model that it was given',
  async () => {
    const [home, work] = ['home', 'work'].map((folder) => mkdtempSync(join(tmpdir(), `agent-${folder}-`))) as [string, string];
    try {
      // So small a window that a resumed conversation is compacted at once.
      writeSetup('gemini-cli', { home, url: gateway.url, key: gateway.key, model: 'agent' }, { context: 400 });
      const args = ['--yolo', '--skip-trust'];
      const agent = {
        ...gemini,
        launch: () => ({ args: ['-p', 'What time is it?', ...args], env: {} }),
        resume: () => ({ args: ['-p', 'And now?', '--resume', 'latest', ...args], env: {} }),
      };
      const place = { work, home, url: gateway.url, key: gateway.key, model: 'agent', prompt: '' };
      const first = await runAgent(bin, agent, place, { maxMs });
      expect(first).toEqual({ code: 0, printed: expect.stringContaining(report) });
      expect(asides.filter((body) => body.includes('what time is it'))).not.toEqual([]);
      asides = [];
      const resumed = await runAgent(bin, agent, place, { resume: true, maxMs });
      expect(resumed).toEqual({ code: 0, printed: expect.stringContaining(report) });
      expect(asides.filter((body) => body.includes('state_snapshot'))).not.toEqual([]);
      await gateway.settle();
      expect((await gateway.rows()).filter(({ status }) => status !== 200)).toEqual([]);
    } finally {
      for (const folder of [home, work]) rmSync(folder, { recursive: true, force: true });
    }
  },
  2 * maxMs + 30_000,
);
