/** How many workers `up` is asked for. */
import { availableParallelism } from 'node:os';
import { ConfigError } from '@model-gateway/config';

const accepts = 'a whole number from 1 to 256, or auto (a core less than the machine has, at least 1)';

/** Takes `--workers N` out of the arguments; null: the gateway is one process. Throws a ConfigError. */
export function takeWorkers(args: readonly string[]): { workers: number | null; rest: string[] } {
  const rest: string[] = [];
  let workers: number | null = null;
  for (let at = 0; at < args.length; at++) {
    const [flag, inline] = args[at]!.split(/=(.*)/s, 2);
    if (flag !== '--workers') rest.push(args[at]!);
    else workers = read(inline ?? args[++at]);
  }
  return { workers, rest };
}

function read(text: string | undefined): number {
  if (text === undefined) throw new ConfigError(`--workers has no value; accepted: ${accepts}`);
  if (text === 'auto') return Math.max(1, availableParallelism() - 1);
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > 256) throw new ConfigError(`--workers ${JSON.stringify(text.slice(0, 40))} is not a valid number; accepted: ${accepts}`);
  return count;
}
