/**
 * Ten turns with a tool in each, by programs that send only what is new and leave the rest with the gateway, on each family of upstreams, with another
 * vendor's model in the middle; and Codex over its WebSocket, whose connection is cut half way. Codex itself asks that nothing is stored, which a proxy
 * turns round. Runs with `AGENTS=1`; `AGENTS_ONLY` as elsewhere.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RequestRow } from '@model-gateway/contracts';
import type { Play } from '../fake-upstream/index.ts';
import { type Agent, agents } from './agents.ts';
import { installAgents } from './install-agents.ts';
import { type Ended, runAgent } from './run-agent.ts';
import { quoted, shellCall, shellNames, toolsOf } from './scripted-agent.ts';
import { installSdkAgent, runSdkAgent, type SdkAgent } from './sdk-agents.ts';
import { openSocketProxy, type SocketProxy } from './socket-proxy.ts';
import { arrangementOfRun, delta, type Family, families, isAskedFor, openStage, type Stage } from './stage.ts';

const turns = 10;
const maxMs = 3 * 60_000;

const program = (name: string, file: string, packages: readonly string[], ways: readonly string[]): SdkAgent[] =>
  ways.map((way) => ({ name: `${name}-${way}`, program: file, packages, way, protocol: 'alpha_response' }));
const programs: readonly SdkAgent[] = [
  ...program('stored-openai', 'stored-openai.mjs', ['openai@7.57.0'], ['conversations', 'previous', 'streamed']),
  ...program('stored-openai-agents', 'stored-openai-agents.mjs', ['@openai/agents@0.20.0', 'openai@7.57.0', 'zod@4.6.7'], ['conversations', 'previous']),
  ...program('stored-openai-py', 'stored_openai_py.py', ['openai==3.54.0'], ['conversations', 'previous', 'streamed']),
];
const vendors = [...families.filter(({ name }) => ['openai', 'responses', 'beta', 'gamma', 'converse'].includes(name)), delta];

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
}, 120_000);
afterAll(async () => {
  await stage?.close();
});

/** All that a request says of turns and of what their tools gave. */
const numbersIn = (text: string, pattern: RegExp): Set<number> => new Set([...text.matchAll(pattern)].map(([, number]) => Number(number)));

/** In each turn a call whose output names the turn, then the report. It says so when a turn or an output is missing from what it is sent. */
const playTurns: Play = (body) => {
  const text = JSON.stringify(body);
  const [said, done] = [numbersIn(text, /turn-(\d+)/g), numbersIn(text, /result-(\d+)/g)];
  const turn = Math.max(0, ...said);
  const lost = Array.from({ length: turn - 1 }, (_, at) => at + 1).filter((one) => !said.has(one) || !done.has(one));
  if (lost.length > 0) return { text: `LOST ${lost.join()}` };
  if (done.has(turn)) return { text: `done-${turn}` };
  const shell = toolsOf(body).find(({ name }) => shellNames.test(name));
  if (!shell) return { text: 'no shell' };
  // The words of the command are in the history as well: only its output is to look like one.
  return { ...shellCall(shell, `echo "result""-${turn}"`), thinking: { text: `Turn ${turn} needs its result.` } };
};

const otherOf = ({ protocol }: Family): Family => families.find((one) => one.protocol !== protocol && !['mistral', 'deepseek'].includes(one.name))!;

async function inPlace<T>(use: (folders: { home: string; work: string }) => Promise<T>): Promise<T> {
  const [home, work] = ['home', 'work'].map((name) => mkdtempSync(join(tmpdir(), `agent-${name}-`))) as [string, string];
  try {
    return await use({ home, work });
  } finally {
    for (const folder of [home, work]) rmSync(folder, { recursive: true, force: true });
  }
}

for (const agent of programs.filter(({ name }) => isAskedFor(name)))
  describe(`${agent.name} (${arrangementOfRun()})`, () => {
    const { name } = agent;
    let folder: string;
    // In a run that asks for these agents, one that cannot be installed has not passed.
    beforeAll(async () => {
      folder = await installSdkAgent(agent);
    }, 1_300_000);

    for (const family of vendors.filter((one) => isAskedFor(name, one.name)))
      test(
        `ten turns on ${family.name}, three of them by another vendor's model`,
        async () => {
          const other = otherOf(family);
          await stage.moveTo(family);
          await stage.moveTo(other, 'agent-other');
          await stage.gateway.settle();
          const before = (await stage.gateway.rows()).length;
          stage.play(playTurns);
          const { printed, code } = await inPlace((folders) =>
            runSdkAgent(folder, agent, { ...folders, ...stage.throughGateway, prompt: '' }, { resume: false, maxMs }),
          );
          const said = printed.split('\n').filter((line) => /^\d+: /.test(line));
          expect({ said, code, refusals: stage.fake.takeRefusals(), printed }).toEqual({
            said: Array.from({ length: turns }, (_, turn) => `${turn + 1}: done-${turn + 1}`),
            code: 0,
            refusals: [],
            printed: expect.any(String),
          });
          // Of each turn the call and the report.
          const asked = await rowsSince(before);
          expect(asked.map(({ upstream }) => upstream)).toEqual([...Array(6).fill(family.name), ...Array(6).fill(other.name), ...Array(8).fill(family.name)]);
        },
        maxMs + 60_000,
      );
  });

/** Of the requests after so many rows, oldest first; waits for those of all turns. */
async function rowsSince(before: number, requests = 2 * turns): Promise<RequestRow[]> {
  for (;;) {
    const rows = (await stage.gateway.rows()).slice(0, -before || undefined);
    const asked = rows.filter(({ model, turn_id }) => model?.startsWith('agent') && turn_id !== null);
    if (asked.length >= requests) return asked.reverse();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const codex = agents.find(({ name }) => name === 'codex')!;
/** The same program, told that its provider speaks over a WebSocket. */
const overSocket: Agent = {
  ...codex,
  launch: (place) => socketed(codex.launch(place)),
  resume: (place) => socketed(codex.resume(place)),
};
function socketed({ args, env }: ReturnType<Agent['launch']>): ReturnType<Agent['launch']> {
  return { args: args.map((one) => one.replace('wire_api="responses"', 'wire_api="responses",supports_websockets=true')), env };
}

if (isAskedFor('codex'))
  describe(`codex over its socket (${arrangementOfRun()})`, () => {
    let bin: string;
    let proxy: SocketProxy;
    beforeAll(async () => {
      bin = installAgents();
      proxy = await openSocketProxy(stage.gateway.url);
    }, 700_000);
    afterAll(() => proxy?.close());

    for (const family of vendors.filter((one) => isAskedFor('codex', one.name)))
      test(
        `ten steps on ${family.name}, with a cut and another vendor's model in the middle`,
        async () => {
          await stage.moveTo(family);
          await stage.gateway.settle();
          Object.assign(proxy, { sockets: 0, chained: 0 });
          const before = (await stage.gateway.rows()).length;
          let cut = false;
          const moves: Promise<void>[] = [];
          await inPlace(async (folders) => {
            const trace = join(folders.work, 'trace.txt');
            stage.play((body) => {
              const shell = toolsOf(body).find(({ name }) => shellNames.test(name));
              if (!shell) return { text: 'Ten steps' };
              const done = numbersIn(JSON.stringify(body), /result-(\d+)/g);
              const next = Math.max(0, ...done) + 1;
              if (done.size !== next - 1) return { text: `LOST: only ${[...done].join()}` };
              if (next > turns) return { text: 'REPORT: all steps are done' };
              if (next === 4 && moves.length === 0) moves.push(stage.moveTo(otherOf(family)));
              if (next === 8 && moves.length === 1) moves.push(stage.moveTo(family));
              if (next === 6 && !cut) {
                cut = true;
                proxy.cut();
              }
              return { ...shellCall(shell, `echo "result""-${next}" | tee -a ${quoted(trace)}`), thinking: { text: `Step ${next} comes next.` } };
            });
            const run = (prompt: string, resume: boolean): Promise<Ended> =>
              runAgent(bin, overSocket, { ...folders, ...stage.throughGateway, url: proxy.url, prompt }, { resume, maxMs });
            const ended = await run('Do all the steps, one after another, then report.', false);
            await Promise.all(moves);
            const lines = existsSync(trace) ? readFileSync(trace, 'utf8').split('\n') : [];
            expect({ ...ended, reported: ended.printed.includes('REPORT'), refusals: stage.fake.takeRefusals() }).toEqual({
              printed: expect.any(String),
              code: 0,
              reported: true,
              refusals: [],
            });
            for (let step = 1; step <= turns; step++) expect(lines).toContain(`result-${step}`);
          });
          expect(cut).toBe(true);
          expect(proxy.sockets).toBeGreaterThan(1);
          // It sends only what is new, but for the first request of each connection.
          expect(proxy.chained).toBeGreaterThanOrEqual(turns - proxy.sockets);
          const upstreams = (await rowsSince(before, turns)).map(({ upstream }) => upstream);
          expect(new Set(upstreams)).toEqual(new Set([family.name, otherOf(family).name]));
        },
        maxMs + 60_000,
      );
  });
