/** Frames of recorded realtime sessions. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixturesDirectory } from './fixtures.ts';

/** A frame of a recorded session. */
export interface RecordedFrame {
  dir: 'client' | 'server';
  data: Record<string, unknown>;
}

/** `name`: of a recording of `alpha_realtime`, or `<protocol>/<name>`. */
export const readFrames = (name: string): RecordedFrame[] =>
  readFileSync(join(fixturesDirectory(), ...(name.includes('/') ? [] : ['alpha_realtime']), name, 'frames.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RecordedFrame);
