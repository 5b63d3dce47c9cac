/** A long task and the resume after it, done by any agent, and what came of them. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RefusedBy } from '../vendor-rules/index.ts';
import type { Place } from './agents.ts';
import { type LongTask, lineOf, playLongTask, stepsOfTask } from './long-script.ts';
import type { Ended } from './run-agent.ts';
import type { Address, Stage } from './stage.ts';

/** The picture, and the call that was cut in its arguments: some agents answer it with an error of their own and go on, which the script takes for done. */
const withoutLine = new Set([4, 23]);
/** The picture that the agent looks at: one red dot. */
const picture = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGP8z4APMOGVHbHSAEEsAROxCnMTAAAAAElFTkSuQmCC', 'base64');

export interface Day {
  stage: Stage;
  specialText: string;
  address: Address;
  /** Runs the agent on the place's prompt, or in the session that its run before made. */
  run(place: Place, resume: boolean): Promise<Ended>;
  /** Moves the model to another vendor, and back. */
  move(to: 'other' | 'own'): Promise<void>;
}

interface Part {
  code: number | null;
  reported: boolean;
  refusals: RefusedBy[];
  printed: string;
}

/** `resume` is null when the task was not reported as done. */
export async function spendDay({ stage, specialText, address, run, move }: Day): Promise<{
  day: Part & { missing: number[] };
  resume: (Part & { resumed: boolean; startedAnew: boolean }) | null;
}> {
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
  const part = ({ code, printed }: Ended, report: string): Part => ({
    code,
    reported: printed.includes(report),
    refusals: stage.fake.takeRefusals(),
    printed: printed.slice(-3000),
  });
  stage.fake.requests.length = 0;
  stage.play(playLongTask(task));
  writeFileSync(task.picture, picture);
  const place = { work, home, ...address };
  try {
    const first = await run({ ...place, prompt: 'Do all the steps, one after another, then report.' }, false);
    await Promise.all(moves);
    const lines = linesSoFar();
    const missing = Array.from({ length: stepsOfTask }, (_, step) => step).filter(
      (step) => !withoutLine.has(step) && !lines.some((line) => line === lineOf(step) || line.startsWith(`${lineOf(step)} `)),
    );
    const day = { missing, ...part(first, task.report) };
    if (!day.reported) return { day, resume: null };
    const second = await run({ ...place, prompt: 'Go on with the last step.' }, true);
    const all = linesSoFar();
    const startedAnew = all.indexOf(lineOf(0)) !== all.lastIndexOf(lineOf(0));
    return { day, resume: { ...part(second, task.reportOfResume), resumed: all.includes('resumed'), startedAnew } };
  } finally {
    for (const folder of [home, work]) rmSync(folder, { recursive: true, force: true });
  }
}

/** `AGENTS_KEEP`: a folder for what the upstream was asked, a request a line. */
export function keepRequests(stage: Stage, name: string): void {
  const folder = process.env['AGENTS_KEEP'];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  const lines = stage.fake.requests.map(({ path, json, refusal, closed }) => JSON.stringify({ path, refusal, closed: closed?.reason, json }));
  writeFileSync(join(folder, `${name}.jsonl`), `${lines.join('\n')}\n`);
}
