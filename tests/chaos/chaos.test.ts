/** The chaos run in its short form: one minute, a fixed seed, a load that a busy machine bears. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

/** Each kind of fault, but for freezes that outlast the minute. */
const short = { CHAOS_MINUTES: '1', CHAOS_SEED: '7', CHAOS_STREAMS: '12', CHAOS_RATE: '10', CHAOS_FREEZES: '3000' };

test('faults in a seeded order against separate services break no promise', async () => {
  const run = spawn('sh', [join(import.meta.dirname, 'run.sh')], { env: { ...process.env, ...short }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [run.stdout, run.stderr])
    stream.on('data', (text) => {
      output += text;
      // As it comes: a run that does not end shows how far it got.
      process.stderr.write(text);
    });
  const code = await new Promise((resolve) => run.once('exit', resolve));
  expect([code, output.match(/^BROKEN.*$/gm)]).toEqual([0, null]);
  expect(output.match(/^kept /gm)).toHaveLength(5);
}, 600_000);
