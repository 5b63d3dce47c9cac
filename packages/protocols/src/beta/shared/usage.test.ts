/** What a usage report comes to when its vendor asked models more than once for one reply. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readStream } from '../../../test/support/beta.ts';
import { describeRecorded } from '../../../test/support/describe-recorded.ts';
import { recordingsFolder } from '../../../test/support/recordings-folder.ts';
import { foldEvents } from '../../chat/fold.ts';
import { finishedUsage, readWhole } from '../upstream/read-response.ts';
import { mergeUsage, readUsage } from './usage.ts';

const root = recordingsFolder;
const stream = (name: string) => readStream(readFileSync(join(root, name), 'utf8'));

describeRecorded(existsSync(join(root, 'beta_features')), 'usage by iterations')('recorded replies', () => {
  test('what a compaction used is counted beside the totals', () => {
    const { usage } = foldEvents(stream('beta_features/compaction-usage-cache-stream/response.sse'));
    expect(usage).toEqual({ input: 281, cacheRead: 55_096, cacheWrite5m: 0, cacheWrite1h: 0, output: 91, reasoning: 0 });
  });

  test('one entry that repeats the totals adds nothing', () => {
    const body: unknown = JSON.parse(readFileSync(join(root, 'beta_features/compaction-round-trip/response.json'), 'utf8'));
    expect(finishedUsage(body)).toMatchObject({ input: 136, output: 16 });
  });

  test('a model that declined before its first word is not billed, and the one that answered is named', () => {
    const events = stream('beta/server-fallback-stream/response.sse');
    expect(foldEvents(events).usage).toMatchObject({ input: 412, output: 264 });
    expect(events.find(({ type }) => type === 'finish')).toMatchObject({ servedModel: 'claude-opus-4-8' });
  });
});

const entry = (type: string, input: number, output: number, model?: string) => ({ type, input_tokens: input, output_tokens: output, model });
const report = (input: number, output: number, iterations: unknown) => ({ input_tokens: input, output_tokens: output, iterations });

describe('later reports', () => {
  const first = { input_tokens: 10, cache_creation_input_tokens: 500, cache_creation: { ephemeral_1h_input_tokens: 500 }, output_tokens: 1 };
  const after = (report: object) => readUsage(mergeUsage(first, report));

  test('zeros beside the output take back nothing of the prompt', () => {
    const zeros = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, cache_creation: { ephemeral_1h_input_tokens: 0 } };
    expect(after({ ...zeros, output_tokens: 7 })).toMatchObject({ input: 10, cacheWrite1h: 500, output: 7 });
  });

  test('a zero beside another count of the prompt is a correction', () => {
    expect(after({ cache_creation_input_tokens: 0, cache_read_input_tokens: 500 })).toMatchObject({
      input: 10,
      cacheRead: 500,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
    });
  });
});

test('the turns of a tool loop are in the totals already', () => {
  expect(readUsage(report(300, 30, [entry('message', 100, 10), entry('message', 200, 20)]))).toMatchObject({ input: 300, output: 30 });
});

test('an advisor is billed beside the totals', () => {
  expect(readUsage(report(300, 30, [entry('message', 300, 30), entry('advisor_message', 4000, 500, 'claude-opus-4-8')]))).toMatchObject({
    input: 4300,
    output: 530,
  });
});

test('thinking stays part of the output that the entries say', () => {
  const usage = readUsage({ ...report(10, 50, [entry('compaction', 90, 9), entry('message', 10, 50)]), output_tokens_details: { thinking_tokens: 20 } });
  expect(usage).toMatchObject({ input: 100, output: 39, reasoning: 20 });
});

test('a relay that put all entries into the totals is not counted twice', () => {
  expect(readUsage(report(400, 40, [entry('compaction', 100, 10), entry('message', 300, 30)]))).toMatchObject({ input: 400, output: 40 });
});

test('a model that declined after some words is billed for them', () => {
  const usage = readUsage(report(412, 264, [entry('message', 408, 50, 'claude-fable-5'), entry('fallback_message', 412, 264, 'claude-opus-4-8')]));
  expect(usage).toMatchObject({ input: 820, output: 314 });
});

test.each([['none'], [null], [{}], [[null, 1, 'x', {}, { type: 'compaction', input_tokens: -5, output_tokens: 'many' }]]])(
  'odd entries count nothing: %j',
  (iterations) => {
    expect(readUsage(report(7, 3, iterations))).toMatchObject({ input: 7, output: 3 });
  },
);

test('a whole reply has the same usage as its stream', () => {
  const body = {
    type: 'message',
    model: 'claude-fable-5',
    content: [{ type: 'text', text: 'a' }],
    stop_reason: 'end_turn',
    usage: report(412, 264, [entry('message', 408, 0, 'claude-fable-5'), entry('fallback_message', 412, 264, 'claude-opus-4-8')]),
  };
  // Read in full, since its row names the model that answered.
  expect(finishedUsage(body)).toBeUndefined();
  expect(readWhole(body).find(({ type }) => type === 'finish')).toMatchObject({ servedModel: 'claude-opus-4-8' });
});
