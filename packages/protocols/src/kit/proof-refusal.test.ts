/** Real sentences of vendors about proofs, and sentences near them that mean something else. */
import { describe, expect, test } from '@jest/globals';
import { refusesProofs } from './proof-refusal.ts';

const refused = (message: string, code?: string) => refusesProofs({ class: 'caller', status: 400, message, ...(code !== undefined && { code }) });

describe('a refusal of proofs', () => {
  test.each([
    'messages.1.content.0: Invalid `signature` in `thinking` block',
    'messages.3.content.13: Invalid signature in thinking block',
    'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set …',
    'messages.5.content.1: Invalid `data` in `redacted_thinking` block',
    'The model returned the following errors: messages.1.content.0: Invalid `signature` in `thinking` block',
    'messages.7.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were.',
    'messages.129.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. When `thinking` is enabled, a final `assistant` message …',
    'messages.257.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
    'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly',
    'Thought signature is not valid',
    'Corrupted thought signature.',
    'The encrypted content gAAA...DQ== could not be verified.',
    'The encrypted content - **... could not be verified. Reason: Encrypted content could not be decrypted or parsed.',
    "Item 'rs_0123' of type 'reasoning' was provided without its required following item.",
    "Item with id 'rs_0123' not found. Items are not persisted when `store` is set to false.",
    'The `reasoning_content` in the thinking mode must be passed back to the API.',
    'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
  ])('%s', (message) => expect(refused(message)).toBe(true));

  test('a code alone is enough', () => expect(refused('no', 'invalid_encrypted_content')).toBe(true));
});

describe('another fault', () => {
  test.each([
    'max_tokens: Field required',
    'prompt is too long: 213462 tokens > 200000 maximum',
    '`temperature` may only be set to 1 when thinking is enabled',
    'messages.2: tool_use ids were found without tool_result blocks immediately after: toolu_1',
    'Request signature expired: 20251231T000000Z',
    'Unknown parameter: reasoning_content',
  ])('%s', (message) => expect(refused(message)).toBe(false));

  test('the account and the state of the upstream are never about proofs', () => {
    for (const kind of ['credential', 'account', 'rate', 'overloaded', 'timeout', 'connect', 'context'] as const)
      expect(refusesProofs({ class: kind, message: 'Invalid `signature` in `thinking` block' })).toBe(false);
  });

  test('a hostile text is read in linear time', () => {
    const began = process.cpuUsage();
    for (const text of ['thinking blocks'.repeat(20_000), 'encrypted content'.repeat(20_000), "item 'rs_".repeat(30_000), '`'.repeat(300_000)]) refused(text);
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(5_000);
  });
});
