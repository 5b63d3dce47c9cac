/** Ids of the newest generations find a row of their vendor, with its forms and limits. */
import { expect, test } from '@jest/globals';
import { findFamily } from './index.ts';

test.each(['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5', 'claude-fable-5-2', 'claude-mythos-5-2', 'us.anthropic.claude-opus-5-5'])('%s', (id) => {
  expect(findFamily(id)).toMatchObject({ vendor: 'anthropic', cacheMarks: 'explicit', sampling: { fixed: true }, thinking: { style: 'adaptive' } });
});

test.each(['gpt-6-astra', 'gpt-6.1-sol', 'gpt-6.1-terra', 'gpt-6.1-luna', 'gpt-5.6-sol', 'gpt-5.6-cyber'])('%s', (id) => {
  const family = findFamily(id);
  expect(family).toMatchObject({ vendor: 'openai', chat: { limitField: 'max_completion_tokens', firstParty: true }, sampling: { fixed: true } });
  expect(family.context).not.toBeNull();
});
