/**
 * The long task of `long-task.test.ts`, done by small programs on the libraries that people write their own agents with (`sdk/`), through the gateway.
 * Runs with `AGENTS=1`; `AGENTS_ONLY=ai-sdk-google/beta` runs one agent on one upstream, and `AGENTS_CONTROL=1` runs each without the gateway as well.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keepRequests, spendDay } from './long-day.ts';
import { plainSeparators, specialText } from './long-script.ts';
import { installSdkAgent, isUnreachable, runSdkAgent, sdkAgents } from './sdk-agents.ts';
import { arrangementOfRun, families, isAskedFor, openStage, type Stage } from './stage.ts';

const maxMs = 5 * 60_000;

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
}, 120_000);
afterAll(async () => {
  await stage?.close();
});

const asked = sdkAgents.filter(({ name }) => isAskedFor(name));
describe.each(asked.map((agent) => [agent.name, agent] as const))(`%s (${arrangementOfRun()})`, (name, agent) => {
  /** null: the registry is out of reach. */
  let folder: string | null = null;
  beforeAll(async () => {
    try {
      folder = await installSdkAgent(agent);
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      process.stderr.write(`NOT RUN: ${name}: its registry is out of reach: ${(error as Error).message.slice(-400)}\n`);
    }
  }, 1_300_000);

  /** How often the person at the program had to say "Go on.", because the library stopped or threw. */
  const interruptionsIn = (printed: string): string[] => printed.split('\n').filter((line) => line.startsWith('interrupted: '));

  test.each(families.filter((family) => isAskedFor(name, family.name)).map((family) => [family.name, family] as const))(
    'works through a long task on %s',
    async (_family, family) => {
      const at = folder;
      // In a run that asks for these agents, one that could not run has not passed.
      if (at === null) throw new Error('NOT RUN: the registry of the library is out of reach');
      const other = families.find(({ protocol, name }) => protocol !== family.protocol && name !== 'mistral' && name !== 'deepseek')!;
      await stage.moveTo(family);
      await stage.gateway.settle();
      const before = (await stage.gateway.rows()).length;
      const { day, resume } = await spendDay({
        stage,
        specialText,
        address: stage.throughGateway,
        run: (place, resume) => runSdkAgent(at, agent, place, { resume, maxMs }),
        move: (to) => stage.moveTo(to === 'other' ? other : family),
      });
      keepRequests(stage, `${name}-${family.name}`);
      process.stderr.write(`${name} on ${family.name}: ${JSON.stringify(interruptionsIn(day.printed))}\n`);
      const { missing = [], startsAnew: startedAnew = false } = agent.fault ?? {};
      expect(day).toEqual({ missing, code: 0, reported: true, refusals: [], printed: expect.any(String) });
      expect(resume).toEqual({ code: 0, resumed: true, startedAnew, reported: true, refusals: [], printed: expect.any(String) });
      // The accidents alone are errors: nothing was asked twice because of us.
      const rows = (await stage.gateway.rows()).slice(0, -before || undefined);
      expect(rows.filter(({ attempts }) => attempts.length > 1).map(({ attempts }) => attempts)).toEqual([]);
    },
    2 * maxMs + 60_000,
  );

  const own = families.find(({ protocol }) => protocol === agent.protocol)!;
  // Prints how far the program comes by itself: what a failure above is to be compared with.
  if (process.env['AGENTS_CONTROL'] === '1')
    test(
      'is run without the gateway',
      async () => {
        const at = folder;
        // In a run that asks for these agents, one that could not run has not passed.
        if (at === null) throw new Error('NOT RUN: the registry of the library is out of reach');
        const run = await spendDay({
          stage,
          // Google escapes the two separators, which its own readers stumble over; the scripted model does not.
          specialText: own.protocol === 'gamma' ? plainSeparators(specialText) : specialText,
          address: stage.withoutGateway(own),
          run: (place, resume) => runSdkAgent(at, agent, place, { resume, maxMs }),
          move: async () => {},
        });
        keepRequests(stage, `${name}-direct`);
        process.stderr.write(`${name} without the gateway: ${JSON.stringify(run, null, 1)}\n`);
      },
      2 * maxMs + 60_000,
    );
});
