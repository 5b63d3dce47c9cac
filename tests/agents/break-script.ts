/** A model that leads an agent through a short task, one reply of which breaks off. How far the task is, is read from the file that its steps write. */
import { existsSync, readFileSync } from 'node:fs';
import type { Play } from '../fake-upstream/index.ts';
import { longText, quoted, shellCall, shellNames, toolsOf } from './scripted-agent.ts';

/** Where the reply breaks. */
export type BreakIn = 'text' | 'arguments';

export interface BreakTask {
  /** File to which every step adds a line. */
  trace: string;
  report: string;
  breakIn: BreakIn;
  /** How many replies broke so far. */
  breaks: number;
  /** Requests that had tools. */
  turns: number;
}

export const stepsOfBreakTask = 4;
/** Of which the reply breaks off. */
const brokenStep = 2;
/** A model that is asked for the same again and again gives up. */
const maxTurns = 20;

export const stepsDone = (task: BreakTask): number => (existsSync(task.trace) ? new Set(readFileSync(task.trace, 'utf8').split('\n').filter(Boolean)).size : 0);

export function playBreakTask(task: BreakTask): Play {
  return (body) => {
    const shell = toolsOf(body).find(({ name }) => shellNames.test(name));
    // Agents also ask for titles and summaries, without tools.
    if (!shell) return { text: 'A short task' };
    const step = stepsDone(task);
    if (++task.turns > maxTurns) return { text: 'I give up.' };
    if (step >= stepsOfBreakTask) return { text: task.report };
    const command = `echo ${quoted(`step ${step}`)} >> ${quoted(task.trace)}`;
    if (step !== brokenStep || task.breaks > 0) return { text: `Step ${step} comes next.`, ...shellCall(shell, command) };
    task.breaks++;
    return task.breakIn === 'text'
      ? { text: longText('Reason', 12_000), ...shellCall(shell, command), script: 'cut@7000' }
      : { ...shellCall(shell, `${command}; : ${quoted(longText('Part', 12_000))}`), script: 'cut@7000' };
  };
}
