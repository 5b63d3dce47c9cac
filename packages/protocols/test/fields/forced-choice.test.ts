/** A call that is forced where no tool is offered: it reaches the upstream, which may refuse it, or a loss says that it did not. */
import { expect, test } from '@jest/globals';
import { ask } from '../board/cross.ts';
import { speakers, upstreams } from '../laws/harness.ts';

const forced: Readonly<Record<string, object>> = {
  alpha: { model: 'm', messages: [{ role: 'user', content: 'Hi' }], tool_choice: 'required' },
  alpha_response: { model: 'm', input: 'Hi', tool_choice: 'required' },
  beta: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], tool_choice: { type: 'any' } },
};
const pairs = Object.keys(forced).flatMap((client) => upstreams.map((upstream) => [client, upstream.id] as const));

test.each(pairs.filter(([client, upstream]) => !upstream.startsWith(client)))('of a caller of %s, at %s', (client, id) => {
  const upstream = upstreams.find((one) => one.id === id)!;
  const { losses, text } = ask({ client: speakers.find((one) => one.id === client)!, upstream }, forced[client]!);
  const isLost = losses.some(({ action, field }) => action === 'dropped' && field === 'tool_choice');
  expect(isLost).toBe(!text.includes('tool_choice'));
});
