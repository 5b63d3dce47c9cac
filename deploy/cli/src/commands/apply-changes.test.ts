/** When `apply --watch` applies: a changed file once it stands still, and one that met no gateway until it does. */
import { expect, test } from '@jest/globals';
import { NoAnswerError } from './api-client.ts';
import { applyChanges } from './apply-changes.ts';

/** Shows these versions, one at each look, and what came of it: the versions that were applied, and what was reported. */
async function watch(versions: string[], faults: (Error | null)[] = []): Promise<{ applied: string[]; reports: string[] }> {
  const applied: string[] = [];
  const reports: string[] = [];
  let at = 0;
  const ended = new Error('no more looks');
  const watching = applyChanges({
    version: () => versions[at]!,
    async apply() {
      applied.push(versions[at]!);
      const fault = faults.shift();
      if (fault) throw fault;
    },
    async rest() {
      if (++at === versions.length) throw ended;
    },
    report: (text) => void reports.push(text),
  });
  await expect(watching).rejects.toBe(ended);
  return { applied, reports };
}

test('a file that is being written is applied when it stands still, and once', async () => {
  expect(await watch(['one', 'one', 'half', 'two thirds', 'whole', 'whole', 'whole'])).toEqual({ applied: ['one', 'whole'], reports: [] });
});

test('a file that is away for a moment, as some editors save, is not reported', async () => {
  expect(await watch(['one', '', 'two', 'two'])).toEqual({ applied: ['one', 'two'], reports: [] });
});

test('a file that is refused is reported, and waits for its next change', async () => {
  const { applied, reports } = await watch(['one', 'two', 'two', 'two', 'three', 'three'], [null, new Error('two is refused')]);
  expect(applied).toEqual(['one', 'two', 'three']);
  expect(reports).toEqual(['two is refused']);
});

test('a file that met no gateway is applied when there is one, and said to wait once', async () => {
  const away = () => new NoAnswerError('nothing answers');
  const { applied, reports } = await watch(['one', 'two', 'two', 'two', 'two', 'two'], [null, away(), away(), null]);
  expect(applied).toEqual(['one', 'two', 'two', 'two']);
  expect(reports).toEqual(['nothing answers\nThe file is applied when the gateway answers.']);
});
