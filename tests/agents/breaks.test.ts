/**
 * What an agent makes of a reply that breaks off, in a text and in a call's arguments: asked of the scripted model itself, and through the gateway with each
 * `on_break`. With `auto` it gets at least as far as without the gateway, and never ends in peace before its task is done.
 * Runs with `AGENTS=1` and prints what it saw; `AGENTS_ONLY=codex/beta` runs one agent on one upstream.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Agent, agents } from './agents.ts';
import { type BreakIn, type BreakTask, playBreakTask, stepsDone, stepsOfBreakTask } from './break-script.ts';
import { installAgents } from './install-agents.ts';
import { runAgent } from './run-agent.ts';
import { type Address, families, isAskedFor, openStage, type Stage } from './stage.ts';

const maxMs = 120_000;
const settings = ['finish', 'break', 'auto'] as const;

interface Outcome {
  steps: number;
  code: number | null;
  reported: boolean;
  /** Requests for a turn of the task. */
  turns: number;
  /** How the gateway told it of the break; null: it was not asked, or nobody was told. */
  ending: string | null;
  printed: string;
}

let bin: string;
let stage: Stage;

beforeAll(async () => {
  bin = installAgents();
  stage = await openStage();
}, 700_000);
afterAll(async () => {
  await stage?.close();
});

async function work(agent: Agent, address: Address, breakIn: BreakIn): Promise<Outcome> {
  const [home, folder] = ['home', 'work'].map((name) => mkdtempSync(join(tmpdir(), `agent-${name}-`))) as [string, string];
  const task: BreakTask = { trace: join(folder, 'trace.txt'), report: 'REPORT: all steps are done', breakIn, breaks: 0, turns: 0 };
  stage.play(playBreakTask(task));
  try {
    const before = (await stage.gateway.rows()).length;
    const prompt = 'Do all the steps, one after another, then report.';
    const { code, printed } = await runAgent(bin, agent, { work: folder, home, prompt, ...address }, { maxMs });
    const rows = (await stage.gateway.rows()).slice(0, -before || undefined);
    const ending = rows.find((row) => row.ending !== null)?.ending ?? null;
    return { steps: stepsDone(task), code, reported: printed.includes(task.report), turns: task.turns, ending, printed: printed.slice(-2000) };
  } finally {
    for (const one of [home, folder]) rmSync(one, { recursive: true, force: true });
  }
}

const print = (what: string, { steps, code, reported, turns, ending }: Outcome): void =>
  void process.stderr.write(
    `${what}: ${steps} of ${stepsOfBreakTask} steps in ${turns} turns, exit ${code ?? 'never'}${reported ? ', reported' : ''}${ending ? ` (${ending})` : ''}\n`,
  );

const asked = agents.filter(({ name }) => isAskedFor(name));
describe.each(asked.map((agent) => [agent.name, agent] as const))('%s', (name, agent) => {
  const own = families.find((one) => one.name === agent.family)!;
  describe.each(['text', 'arguments'] as const)('when a reply breaks off in its %s', (breakIn) => {
    let direct: Outcome;
    beforeAll(async () => {
      direct = await work(agent, stage.withoutGateway(own), breakIn);
      // What an agent itself says that no vendor takes is not looked at here.
      stage.fake.takeRefusals();
      print(`${name}, ${breakIn}, without the gateway`, direct);
    }, maxMs + 30_000);

    test.each(families.filter((family) => isAskedFor(name, family.name)).map((family) => [family.name, family] as const))(
      'gets as far on %s as without the gateway',
      async (_family, family) => {
        await stage.moveTo(family);
        const outcomes = new Map<string, Outcome>();
        for (const setting of settings) {
          await stage.onBreak(setting);
          const outcome = await work(agent, stage.throughGateway, breakIn);
          outcomes.set(setting, outcome);
          print(`${name}, ${breakIn}, ${family.name}, ${setting}`, outcome);
        }
        const auto = outcomes.get('auto')!;
        expect({ ...auto, soonerThanDirect: auto.steps < direct.steps }).toEqual({ ...auto, soonerThanDirect: false });
        expect({ ...auto, endedInPeaceTooSoon: auto.code === 0 && auto.steps < stepsOfBreakTask }).toEqual({ ...auto, endedInPeaceTooSoon: false });
        expect({ ...auto, reported: auto.reported }).toEqual({ ...auto, reported: direct.reported || auto.reported });
        expect(stage.fake.takeRefusals()).toEqual([]);
      },
      settings.length * (maxMs + 30_000),
    );
  });
});
