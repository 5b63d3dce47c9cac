/**
 * A day of a coding agent: 34 steps with thinking, parallel calls, a failing command, long arguments, a picture and odd characters, a 429, a 529, another
 * vendor's model for five steps and back, a cut in a text, a cut in arguments, silence beyond the keep-alive, and a resume. The model is scripted and refuses
 * what its vendor refuses. Runs with `AGENTS=1`; `AGENTS_ONLY=codex/beta` runs one agent on one upstream, `AGENTS_ARRANGEMENT=split`
 * runs the gateway as separate services over NATS and PostgreSQL, and `AGENTS_CONTROL=1` runs each agent without the gateway as well.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Agent, agentsInEachWay, type Place } from './agents.ts';
import { installAgents } from './install-agents.ts';
import { keepRequests, spendDay } from './long-day.ts';
import { plainSeparators, specialText } from './long-script.ts';
import { runAgent } from './run-agent.ts';
import { arrangementOfRun, families, isAskedFor, openStage, type Stage } from './stage.ts';

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

const runOf = (agent: Agent) => (place: Place, resume: boolean) => runAgent(bin, agent, place, { resume, maxMs });

const askedFor = agentsInEachWay.filter(([, { name }]) => isAskedFor(name));
describe.each(askedFor)(`%s (${arrangementOfRun()})`, (name, agent) => {
  const asked = families.filter((family) => isAskedFor(agent.name, family.name));
  test.each(asked.map((family) => [family.name, family] as const))(
    'works through a long task on %s',
    async (_family, family) => {
      const other = families.find(({ protocol, name }) => protocol !== family.protocol && name !== 'mistral' && name !== 'deepseek')!;
      await stage.moveTo(family);
      await stage.gateway.settle();
      const before = (await stage.gateway.rows()).length;
      const said = agent.losesSeparators ? plainSeparators(specialText) : specialText;
      const move = (to: 'other' | 'own') => stage.moveTo(to === 'other' ? other : family);
      const { day, resume } = await spendDay({ stage, specialText: said, address: stage.throughGateway, run: runOf(agent), move });
      keepRequests(stage, `${name}-${family.name}`);
      expect(day).toEqual({ missing: [], code: 0, reported: true, refusals: [], printed: expect.any(String) });
      expect(resume).toEqual({ code: 0, resumed: true, startedAnew: false, reported: true, refusals: [], printed: expect.any(String) });
      // The accidents alone are errors: nothing was asked twice because of us.
      const rows = (await stage.gateway.rows()).slice(0, -before || undefined);
      expect(rows.filter(({ attempts }) => attempts.length > 1).map(({ attempts }) => attempts)).toEqual([]);
    },
    2 * maxMs + 60_000,
  );

  const own = families.find((one) => one.name === agent.family)!;
  // Prints how far the agent comes by itself: what a failure above is to be compared with.
  if (process.env['AGENTS_CONTROL'] === '1')
    test(
      'is run without the gateway',
      async () => {
        // Google escapes the two separators, which its own readers stumble over; the scripted model does not.
        const plain = own.protocol === 'gamma' ? plainSeparators(specialText) : specialText;
        const { day, resume } = await spendDay({ stage, specialText: plain, address: stage.withoutGateway(own), run: runOf(agent), move: async () => {} });
        keepRequests(stage, `${name}-direct`);
        process.stderr.write(`${name} without the gateway: ${JSON.stringify({ day, resume }, null, 1)}\n`);
      },
      2 * maxMs + 60_000,
    );
});
