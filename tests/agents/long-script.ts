/** A model that leads an agent through a long task, with the accidents of a long day on the way. Which step is next is read from the history that the agent sends. */
import type { Play } from '../fake-upstream/index.ts';
import { callsSoFar, fill, longText, quoted, readNames, shellCall, shellNames, type Tool, toolsOf } from './scripted-agent.ts';

export interface LongTask {
  /** File to which every step adds a line. */
  trace: string;
  /** A small PNG. */
  picture: string;
  report: string;
  reportOfResume: string;
  /** Said and written by one step: `specialText`, unless the way there cannot carry it. */
  specialText: string;
  /** Steps whose accident has happened. */
  happened: Set<number>;
  /** The admin moves the model to another vendor, and back. */
  move(to: 'other' | 'own'): void;
}

/** Calls of the task, and one more after the resume. */
export const stepsOfTask = 34;
export const lineOf = (step: number): string => `step ${step}`;
/** U+2028 and U+2029 end lines for some readers of streams; the rest needs care somewhere on every way. */
export const specialText = 'line\u2028separator\u2029paragraph "quoted" \\ back\tslash 😀 é $HOME `tick`';
/** The same without the two. */
export const plainSeparators = (text: string): string => text.replaceAll(/[\u2028\u2029]/g, ' ');

/** What goes wrong, once, at these steps. */
const accidents: Readonly<Record<number, string>> = {
  9: 'err:429:rate_limit_exceeded:1',
  12: 'err:529:overloaded_error',
  // In the middle of a long text, and of long arguments.
  18: 'cut@5000',
  23: 'cut@6000',
  // Longer than the keep-alive, between any two events.
  27: 'slow:1500',
};

type Said = ReturnType<Play>;

function sayStep(task: LongTask, step: number, tools: readonly Tool[], shell: Tool): Said {
  const line = (more = '') => shellCall(shell, `echo ${quoted(lineOf(step) + more)} >> ${quoted(task.trace)}`);
  const thinking = { text: `Step ${step} comes next.` };
  switch (step) {
    case 4: {
      const reader = tools.find(({ name }) => readNames.test(name) || name === 'view_image');
      const paths = { file_path: task.picture, filePath: task.picture, absolute_path: task.picture, path: task.picture };
      return reader ? { call: reader.name, args: fill(reader, paths), thinking } : { ...line(), thinking };
    }
    case 6:
      return { text: `Now ${task.specialText}`, ...line(` ${task.specialText}`), thinking };
    case 7:
      // Two at once: the second counts as a step of its own.
      return { ...line(), also: [shellCall(shell, `echo ${quoted(lineOf(step + 1))} >> ${quoted(task.trace)}`)] };
    case 10:
      return { ...shellCall(shell, `echo ${quoted(lineOf(step))} >> ${quoted(task.trace)}; echo it goes wrong >&2; exit 3`), thinking };
    case 13:
      return { ...shellCall(shell, `echo ${quoted(lineOf(step))} >> ${quoted(task.trace)}; : ${quoted(longText('Argument', 20_000))}`), thinking };
    case 18:
      return { text: longText('Reason', 8000), ...line(), thinking };
    case 23:
      return { ...shellCall(shell, `echo ${quoted(lineOf(step))} >> ${quoted(task.trace)}; : ${quoted(longText('Part', 12_000))}`) };
    default:
      return { ...line(), thinking };
  }
}

/** The model of a long task: each step's reply, with its accident the first time. */
export function playLongTask(task: LongTask): Play {
  return (body) => {
    const tools = toolsOf(body);
    const shell = tools.find(({ name }) => shellNames.test(name));
    // Agents also ask for titles and summaries, without tools.
    if (!shell) return { text: 'A long task' };
    const step = callsSoFar(body);
    if (step === 15) task.move('other');
    if (step === 20) task.move('own');
    if (step === stepsOfTask) return JSON.stringify(body).includes('Go on with the last step') ? resumed(task, shell) : { text: task.report };
    if (step > stepsOfTask) return { text: task.reportOfResume };
    const said = sayStep(task, step, tools, shell);
    const accident = accidents[step];
    if (accident === undefined || task.happened.has(step)) return said;
    task.happened.add(step);
    return { ...said, script: accident };
  };
}

const resumed = (task: LongTask, shell: Tool): Said => ({
  ...shellCall(shell, `echo resumed >> ${quoted(task.trace)}`),
  thinking: { text: 'The last step comes next.' },
});
