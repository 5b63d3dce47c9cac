/**
 * A day of a coding agent: 34 steps with thinking, parallel calls, a failing command, long arguments, a picture and odd characters, a 429, a 529, another
 * vendor's model for five steps and back, a cut in a text, a cut in arguments, silence beyond the keep-alive, and a resume. The model is scripted and refuses
 * what its vendor refuses. Runs with `AGENTS=1`; `AGENTS_ONLY=codex/beta` runs one agent on one upstream.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ProtocolId } from '@model-gateway/contracts';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { agents } from './agents.ts';
import { installAgents } from './install-agents.ts';
import { type LongTask, lineOf, playLongTask, stepsOfTask } from './long-script.ts';
import { runAgent } from './run-agent.ts';

interface Family {
  name: string;
  protocol: ProtocolId;
  model: string;
}

const families: readonly Family[] = [
  { name: 'openai', protocol: 'alpha', model: 'gpt-5.2' },
  { name: 'deepseek', protocol: 'alpha', model: 'deepseek-v3.2' },
  { name: 'mistral', protocol: 'alpha', model: 'mistral-large-latest' },
  { name: 'responses', protocol: 'alpha_response', model: 'gpt-5.2' },
  { name: 'beta', protocol: 'beta', model: 'claude-opus-4-8' },
  { name: 'gamma', protocol: 'gamma', model: 'gemini-3-pro-preview' },
  { name: 'converse', protocol: 'cloudhost_converse', model: 'anthropic.claude-sonnet-4-5-20250929-v1:0' },
];
/** The picture, and the call that was cut in its arguments: some agents answer it with an error of their own and go on, which the script takes for done. */
const withoutLine = new Set([4, 23]);
const maxMs = 8 * 60_000;
const only = process.env['AGENTS_ONLY']?.split('/');

let bin: string;
let gateway: TestGateway;
let task: LongTask;
let fake: FakeUpstream;

beforeAll(async () => {
  bin = installAgents();
  fake = await startFakeUpstream({ play: (body, path) => playLongTask(task)(body, path) });
  gateway = await startGateway({ arrangement: 'embedded', env: { STREAMING_KEEPALIVE_SECONDS: '1' } });
  await gateway.configure({
    upstreams: families.map(({ name, protocol }) => ({ name, protocol, base_url: fake.url, api_keys: [{ key: `sk-${name}` }] })),
    models: [{ name: 'agent', upstream: families[0]!.name, upstream_model_id: `${families[0]!.model}@play` }],
    key_groups: [{ name: 'everyone', models: ['*'], on_break: 'auto' }],
  });
}, 700_000);
afterAll(async () => {
  await gateway?.stop();
  await fake?.close();
});

async function moveTo({ name, model }: Family): Promise<void> {
  const answer = await gateway.console('PATCH', '/models/agent', { upstream: name, upstream_model_id: `${model}@play` });
  if (answer.status !== 200) throw new Error(`the model could not be moved: ${JSON.stringify(answer.body)}`);
}

/** The picture that the agent looks at: one red dot. */
const picture = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGP8z4APMOGVHbHSAEEsAROxCnMTAAAAAElFTkSuQmCC', 'base64');

describe.each(agents.filter(({ name }) => only === undefined || only[0] === name).map((agent) => [agent.name, agent] as const))('%s', (_name, agent) => {
  test.each(families.filter(({ name }) => only?.[1] === undefined || only[1] === name).map((family, at) => [family.name, family, at] as const))(
    'works through a long task on %s',
    async (_family, family) => {
      const [home, work] = ['home', 'work'].map((name) => mkdtempSync(join(tmpdir(), `agent-${name}-`))) as [string, string];
      const other = families.find(({ protocol, name }) => protocol !== family.protocol && name !== 'mistral' && name !== 'deepseek')!;
      const moves: Promise<void>[] = [];
      task = {
        trace: join(work, 'trace.txt'),
        picture: join(work, 'dot.png'),
        report: 'REPORT: all steps are done',
        reportOfResume: 'REPORT: the last step is done too',
        happened: new Set(),
        move: (to) => void moves.push(moveTo(to === 'other' ? other : family)),
      };
      writeFileSync(task.picture, picture);
      await moveTo(family);
      const place = { work, home, url: gateway.url, key: gateway.key, model: 'agent', prompt: 'Do all the steps, one after another, then report.' };
      try {
        const before = (await gateway.rows()).length;
        const first = await runAgent(bin, agent, place, { maxMs });
        await Promise.all(moves);
        const lines = existsSync(task.trace) ? readFileSync(task.trace, 'utf8').split('\n') : [];
        const missing = Array.from({ length: stepsOfTask }, (_, step) => step).filter(
          (step) => !withoutLine.has(step) && !lines.some((line) => line === lineOf(step) || line.startsWith(`${lineOf(step)} `)),
        );
        const rows = (await gateway.rows()).slice(0, -before || undefined);
        const refusals = fake.takeRefusals();
        expect({ missing, code: first.code, reported: first.printed.includes(task.report), refusals, printed: first.printed.slice(-3000) }).toEqual({
          missing: [],
          code: 0,
          reported: true,
          refusals: [],
          printed: expect.any(String),
        });
        // The accidents alone are errors: nothing was asked twice because of us.
        expect(rows.filter(({ attempts }) => attempts.length > 1).map(({ attempts }) => attempts)).toEqual([]);
        const second = await runAgent(bin, agent, { ...place, prompt: 'Go on with the last step.' }, { resume: true, maxMs });
        expect({ code: second.code, refusals: fake.takeRefusals(), printed: second.printed.slice(-3000) }).toEqual({
          code: 0,
          refusals: [],
          printed: expect.stringContaining(task.reportOfResume),
        });
        expect(readFileSync(task.trace, 'utf8')).toContain('resumed');
      } finally {
        for (const folder of [home, work]) rmSync(folder, { recursive: true, force: true });
      }
    },
    2 * maxMs + 60_000,
  );
});
