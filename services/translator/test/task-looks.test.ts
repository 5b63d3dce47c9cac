/** Callers who ask about a task at once are answered by one question to its upstream, and whoever asks after that by the next one. */
import { expect, test } from '@jest/globals';
import type { TaskFacts } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { TaskLooks } from '../src/tasks/task-looks.ts';

const taskOf = (id: string) => ({ id, owner: 'key', createdAt: Date.now(), at: {}, request: {} }) as TaskFacts;
const answerOf = (status: 'running' | 'succeeded') => ({ status, usage: null, httpStatus: 200, text: status });

function setUp() {
  const asked: { id: string; answer: PromiseWithResolvers<ReturnType<typeof answerOf>> }[] = [];
  const published: string[] = [];
  const bus = {
    publishDurable: async (_subject: string, id: string) => void published.push(id),
    ask: async () => ({ tasks: [] }),
  };
  const ask = ({ id }: TaskFacts) => {
    const answer = Promise.withResolvers<ReturnType<typeof answerOf>>();
    asked.push({ id, answer });
    return answer.promise;
  };
  return { asked, published, looks: new TaskLooks({ bus, logger: {}, ask } as never) };
}

test('a hundred callers of a task are one question, and one row', async () => {
  const { asked, published, looks } = setUp();
  const all = Array.from({ length: 100 }, () => looks.look(taskOf('one')));
  const other = looks.look(taskOf('other'));
  expect(asked.map(({ id }) => id)).toEqual(['one', 'other']);
  asked[0]!.answer.resolve(answerOf('succeeded'));
  asked[1]!.answer.resolve(answerOf('running'));
  expect(new Set((await Promise.all(all)).map(({ text }) => text))).toEqual(new Set(['succeeded']));
  expect((await other).text).toBe('running');
  expect(published).toEqual(['one']);
});

test('what was asked before is over: the next caller is answered by a new question, after an error too', async () => {
  const { asked, looks } = setUp();
  const first = looks.look(taskOf('one'));
  asked[0]!.answer.reject(new GatewayError('upstream_unavailable'));
  await expect(first).rejects.toMatchObject({ code: 'upstream_unavailable' });
  const second = looks.look(taskOf('one'));
  asked[1]!.answer.resolve(answerOf('running'));
  expect((await second).text).toBe('running');
});
