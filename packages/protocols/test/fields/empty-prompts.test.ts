/** A prompt that says nothing reaches no upstream as an empty list, which its vendor would refuse in words that mean nothing to the caller. */
import { describe, expect, test } from '@jest/globals';
import { ask } from '../board/cross.ts';
import { speakers, upstreams } from '../laws/harness.ts';

const said = (text: string) => ({ role: 'user', parts: [{ text }] });
const bodies: Readonly<Record<string, readonly object[]>> = {
  alpha: [
    { messages: [{ role: 'user', content: '' }] },
    { messages: [{ role: 'system', content: '' }] },
    {
      messages: [
        { role: 'user', content: [{ type: 'text', text: ' ' }] },
        { role: 'assistant', content: '' },
      ],
    },
  ],
  alpha_response: [{ input: '' }, { input: [] }, { input: [{ role: 'user', content: [{ type: 'input_text', text: '' }] }] }],
  beta: [{ max_tokens: 5000, messages: [{ role: 'user', content: '' }] }],
  gamma: [{ contents: [said('')] }, { contents: [{ role: 'user', parts: [] }] }],
};

/** The list that every wire has: the first of its names that is there. */
const turnsOf = (text: string): unknown[] => {
  const body = JSON.parse(text);
  return body.messages ?? body.contents ?? body.input?.messages ?? body.input ?? [body.conversationState?.currentMessage];
};

describe.each(speakers.map((client) => [client.id, client] as const))('%s', (id, client) => {
  const others = upstreams.filter((upstream) => upstream.id.split(',')[0] !== id && !(id === 'beta' && upstream.id === 'cloudhost_invoke'));
  test.each(others.map((upstream) => [upstream.id, upstream] as const))('to %s', (_name, upstream) => {
    for (const body of bodies[id]!) {
      const { text, losses } = ask({ client, upstream }, { model: 'm', ...body });
      const turns = turnsOf(text);
      expect(turns).toHaveLength(1);
      if (text.includes('…')) expect(losses).toContainEqual(expect.objectContaining({ field: 'messages', action: 'emulated' }));
    }
  });
});
