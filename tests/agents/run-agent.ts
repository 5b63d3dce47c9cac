/** Starts a command-line agent as its user would, without a person, and waits for its end. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Agent, Place } from './agents.ts';

export interface Ended {
  printed: string;
  /** null: it was killed, because it took too long. */
  code: number | null;
}

/** `bin`: folder of the agents' programs. */
export async function runAgent(bin: string, agent: Agent, place: Place, { resume = false, maxMs }: { resume?: boolean; maxMs: number }): Promise<Ended> {
  const { args, env } = resume ? agent.resume(place) : agent.launch(place);
  const child = spawn(join(bin, agent.name), args, {
    cwd: place.work,
    env: { PATH: process.env['PATH'] ?? '', HOME: place.home, TERM: 'xterm-256color', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (printed += bytes));
  const giveUp = setTimeout(() => child.kill('SIGKILL'), maxMs);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  clearTimeout(giveUp);
  return { printed, code };
}
