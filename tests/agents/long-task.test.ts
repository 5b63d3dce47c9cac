/**
 * A day of a coding agent: 34 steps with thinking, parallel calls, a failing command, long arguments, a picture and odd characters, a 429, a 529, another
 * vendor's model for five steps and back, a cut in a text, a cut in arguments, silence beyond the keep-alive, and a resume. The model is scripted and refuses
 * what its vendor refuses. Runs with `AGENTS=1`; `AGENTS_ONLY=codex/beta` runs one agent on one upstream, `AGENTS_ARRANGEMENT=split`
 * runs the gateway as separate services over NATS and PostgreSQL, and `AGENTS_CONTROL=1` runs each agent without the gateway as well.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Agent, agents } from './agents.ts';
import { installAgents } from './install-agents.ts';
import { type LongTask, lineOf, playLongTask, specialText, stepsOfTask } from './long-script.ts';
import { runAgent } from './run-agent.ts';
import { type Address, arrangementOfRun, families, isAskedFor, openStage, type Stage } from './stage.ts';

/** The picture, and the call that was cut in its arguments: some agents answer it with an error of their own and go on, which the script takes for done. */
const withoutLine = new Set([4, 23]);
const maxMs = 8 * 60_000;

let bin: string;
let stage: Stage;

beforeAll(async () => {
  bin = installAgents();
  stage = await openStage();
}, 700_000);
afterAll(async () => {
  await stage?.close();
});

/** The picture that the agent looks at: one red dot. */
const picture = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGP8z4APMOGVHbHSAEEsAROxCnMTAAAAAElFTkSuQmCC', 'base64');

/** `AGENTS_KEEP`: a folder for what the upstream was asked, a request a line. */
function keepRequests(name: string): void {
  const folder = process.env['AGENTS_KEEP'];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  const lines = stage.fake.requests.map(({ path, json, refusal, closed }) => JSON.stringify({ path, refusal, closed: closed?.reason, json }));
  writeFileSync(join(folder, `${name}.jsonl`), `${lines.join('\n')}\n`);
}

interface Day {
  agent: Agent;
  specialText: string;
  address: Address;
  /** Moves the model to another vendor, and back. */
  move(to: 'other' | 'own'): Promise<void>;
}

/** Runs the task and the resume after it, and says how far they came. */
async function spendDay({ agent, specialText, address, move }: Day) {
  const [home, work] = ['home', 'work'].map((name) => mkdtempSync(join(tmpdir(), `agent-${name}-`))) as [string, string];
  const moves: Promise<void>[] = [];
  const task: LongTask = {
    trace: join(work, 'trace.txt'),
    picture: join(work, 'dot.png'),
    report: 'REPORT: all steps are done',
    reportOfResume: 'REPORT: the last step is done too',
    happened: new Set(),
    specialText,
    move: (to) => void moves.push(move(to)),
  };
  const linesSoFar = () => (existsSync(task.trace) ? readFileSync(task.trace, 'utf8').split('\n') : []);
  stage.fake.requests.length = 0;
  stage.play(playLongTask(task));
  writeFileSync(task.picture, picture);
  const place = { work, home, ...address, prompt: 'Do all the steps, one after another, then report.' };
  try {
    const first = await runAgent(bin, agent, place, { maxMs });
    await Promise.all(moves);
    const lines = linesSoFar();
    const missing = Array.from({ length: stepsOfTask }, (_, step) => step).filter(
      (step) => !withoutLine.has(step) && !lines.some((line) => line === lineOf(step) || line.startsWith(`${lineOf(step)} `)),
    );
    const reported = first.printed.includes(task.report);
    const day = { missing, code: first.code, reported, refusals: stage.fake.takeRefusals(), printed: first.printed.slice(-3000) };
    if (missing.length > 0 || !reported) return { day, resume: null };
    const second = await runAgent(bin, agent, { ...place, prompt: 'Go on with the last step.' }, { resume: true, maxMs });
    const resume = {
      code: second.code,
      resumed: linesSoFar().includes('resumed'),
      reported: second.printed.includes(task.reportOfResume),
      refusals: stage.fake.takeRefusals(),
      printed: second.printed.slice(-3000),
    };
    return { day, resume };
  } finally {
    for (const folder of [home, work]) rmSync(folder, { recursive: true, force: true });
  }
}

const askedFor = agents.filter(({ name }) => isAskedFor(name));
describe.each(askedFor.map((agent) => [agent.name, agent] as const))(`%s (${arrangementOfRun()})`, (name, agent) => {
  const asked = families.filter((family) => isAskedFor(name, family.name));
  test.each(asked.map((family) => [family.name, family] as const))(
    'works through a long task on %s',
    async (_family, family) => {
      const other = families.find(({ protocol, name }) => protocol !== family.protocol && name !== 'mistral' && name !== 'deepseek')!;
      await stage.moveTo(family);
      await stage.gateway.settle();
      const before = (await stage.gateway.rows()).length;
      const move = (to: 'other' | 'own') => stage.moveTo(to === 'other' ? other : family);
      const { day, resume } = await spendDay({ agent, specialText, address: stage.throughGateway, move });
      keepRequests(`${name}-${family.name}`);
      expect(day).toEqual({ missing: [], code: 0, reported: true, refusals: [], printed: expect.any(String) });
      const fault = agent.refusedAtResume;
      if (fault?.by === family.protocol) expect(new Set(resume?.refusals.map(({ rule }) => rule))).toEqual(new Set([fault.rule]));
      else expect(resume).toEqual({ code: 0, resumed: true, reported: true, refusals: [], printed: expect.any(String) });
      // The accidents alone are errors: nothing was asked twice because of us.
      const rows = (await stage.gateway.rows()).slice(0, -before || undefined);
      expect(rows.filter(({ attempts }) => attempts.length > 1).map(({ attempts }) => attempts)).toEqual([]);
    },
    2 * maxMs + 60_000,
  );

  const own = families.find(({ protocol }) => protocol === agent.protocol)!;
  // Prints how far the agent comes by itself: what a failure above is to be compared with.
  if (process.env['AGENTS_CONTROL'] === '1')
    test(
      'is run without the gateway',
      async () => {
        // Google escapes the two separators, which its own readers stumble over; the scripted model does not.
        const plain = own.protocol === 'gamma' ? specialText.replaceAll(/[\u2028\u2029]/g, ' ') : specialText;
        const { day, resume } = await spendDay({ agent, specialText: plain, address: stage.withoutGateway(own), move: async () => {} });
        keepRequests(`${name}-direct`);
        process.stderr.write(`${name} without the gateway: ${JSON.stringify({ day, resume }, null, 1)}\n`);
      },
      2 * maxMs + 60_000,
    );
});
