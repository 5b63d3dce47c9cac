/**
 * Real command-line agents do a small task through the gateway: read a file, edit it, run a command, report. The model behind is scripted and speaks
 * each of four upstream protocols. Runs with `AGENTS=1`, since it installs the agents.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ProtocolId } from '@model-gateway/contracts';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { agentsInEachWay } from './agents.ts';
import { installAgents } from './install-agents.ts';
import { runAgent } from './run-agent.ts';
import { playTask, type Task } from './scripted-agent.ts';

const upstreams: readonly ProtocolId[] = ['alpha', 'alpha_response', 'beta', 'gamma'];
const maxMs = 90_000;
/** Read, edit, run, report. */
const minCalls = 4;

let bin: string;
let gateway: TestGateway;
let task: Task;
let fake: FakeUpstream;

beforeAll(async () => {
  bin = installAgents();
  // The task changes from test to test; the upstream stays.
  fake = await startFakeUpstream({ play: (body, path) => playTask(task)(body, path) });
  gateway = await startGateway({ arrangement: 'embedded' });
  await gateway.configure({
    upstreams: upstreams.map((protocol) => ({ name: protocol, protocol, base_url: fake.url, api_keys: [{ key: 'sk-fake' }] })),
    models: upstreams.map((protocol) => ({ name: `agent-${protocol}`, upstream: protocol, upstream_model_id: 'play' })),
  });
}, 700_000);
afterAll(async () => {
  await gateway?.stop();
  await fake?.close();
});

/** Rows beyond the first `before` ones; they are written shortly after the reply. */
async function newRows(before: number) {
  for (let tries = 0; ; tries++) {
    const rows = await gateway.rows();
    if (rows.length - before >= minCalls || tries === 30) return rows.slice(0, rows.length - before);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe.each(agentsInEachWay)('%s', (_way, agent) => {
  test.each(upstreams)(
    'does a task on an upstream that speaks %s',
    async (upstream) => {
      const [home, work] = ['home', 'work'].map((name) => mkdtempSync(join(tmpdir(), `agent-${name}-`))) as [string, string];
      try {
        task = { file: join(work, 'notes.txt'), before: 'red', after: 'blue', command: `echo ran > ${work}/trace.txt`, report: 'REPORT: the word is blue now' };
        writeFileSync(task.file, 'red\n');
        const before = (await gateway.rows()).length;
        const prompt = 'Change the word in notes.txt from red to blue, then run the command and report.';
        const place = { work, home, url: gateway.url, key: gateway.key, model: `agent-${upstream}`, prompt };
        const { printed } = await runAgent(bin, agent, place, { maxMs: maxMs });
        const rows = await newRows(before);
        expect({ printed, file: readFileSync(task.file, 'utf8') }).toEqual({ printed: expect.stringContaining(task.report), file: 'blue\n' });
        expect(existsSync(join(work, 'trace.txt'))).toBe(true);
        // None of its requests was refused or broken by us.
        expect(rows.length).toBeGreaterThanOrEqual(minCalls);
        expect(rows.filter(({ status, error_code }) => status !== 200 || error_code !== null)).toEqual([]);
      } finally {
        for (const folder of [home, work]) rmSync(folder, { recursive: true, force: true });
      }
    },
    maxMs + 30_000,
  );
});
