/** The command line of the bench. */
import { parseArgs } from 'node:util';
import { type Case, cases } from './cases.ts';
import { type Verdict, verdicts } from './verdicts.ts';

export interface Options {
  cases: readonly Case[];
  verdicts: readonly Verdict[];
  repetitions: number;
  /** Seconds of the measured window, and before it. */
  duration: number;
  warmup: number;
  /** Seconds of load on each passage of a target before anything is measured. */
  warm: number;
  peers: boolean;
}

const shortRun = { repetitions: 2, duration: 1, warmup: 0.6, warm: 2 };
const fullRun = { repetitions: 5, duration: 3, warmup: 1, warm: 8 };

export function readOptions(argv: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      short: { type: 'boolean', default: false },
      only: { type: 'string' },
      reps: { type: 'string' },
      duration: { type: 'string' },
      warm: { type: 'string' },
      peers: { type: 'string' },
    },
  });
  const run = values.short ? shortRun : fullRun;
  const wanted = values.only?.split(',');
  const unknown = wanted?.find((name) => !verdicts.some(({ target }) => target === name));
  if (unknown !== undefined)
    throw new Error(`--only: ${unknown} is not a target; accepted: ${[...new Set(verdicts.map(({ target }) => target))].join(', ')}, separated by commas`);
  const chosen = wanted === undefined ? verdicts : verdicts.filter(({ target }) => wanted.includes(target));
  const read = new Set(chosen.flatMap((verdict) => verdict.cases));
  return {
    // Without --only every case runs, those that no verdict reads too.
    cases: cases.filter((one) => (wanted === undefined || read.has(one.id)) && (!values.short || one.short === true)),
    verdicts: chosen,
    repetitions: positive('reps', values.reps) ?? run.repetitions,
    duration: positive('duration', values.duration) ?? run.duration,
    warmup: run.warmup,
    warm: positive('warm', values.warm) ?? run.warm,
    // The short run is for every build: it installs nothing.
    peers: values.peers === undefined ? !values.short : values.peers === 'on',
  };
}

function positive(name: string, value: string | undefined): number | null {
  if (value === undefined) return null;
  const number = Number(value);
  if (!(number > 0 && number <= 120)) throw new Error(`--${name} "${value}": accepted: a number above 0, at most 120`);
  return number;
}
