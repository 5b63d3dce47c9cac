/** Real vendor messages about signatures, and similar messages that mean something else. */
import { describe, expect, test } from '@jest/globals';
import { readSignatureRefusal } from './signature-refusal.ts';

const refused = (message: string, code?: string) => readSignatureRefusal({ class: 'caller', status: 400, message, ...(code !== undefined && { code }) });

describe('a refusal of signatures', () => {
  test.each([
    ['signatures', 'messages.1.content.0: Invalid `signature` in `thinking` block'],
    ['signatures', 'messages.3.content.13: Invalid signature in thinking block'],
    ['signatures', 'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set …'],
    ['signatures', 'messages.5.content.1: Invalid `data` in `redacted_thinking` block'],
    ['signatures', 'The model returned the following errors: messages.1.content.0: Invalid `signature` in `thinking` block'],
    [
      'signatures',
      'messages.7.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were.',
    ],
    [
      'thinking',
      'messages.129.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. When `thinking` is enabled, a final `assistant` message …',
    ],
    ['thinking', 'messages.257.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.'],
    ['call-signature', 'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly'],
    ['signatures', 'Thought signature is not valid'],
    ['signatures', 'Corrupted thought signature.'],
    ['signatures', 'The encrypted content gAAA...DQ== could not be verified.'],
    ['signatures', 'The encrypted content - **... could not be verified. Reason: Encrypted content could not be decrypted or parsed.'],
    ['item', "Item 'rs_0123' of type 'reasoning' was provided without its required following item."],
    ['item', "Item with id 'rs_0123' not found. Items are not persisted when `store` is set to false."],
    ['reasoning', 'The `reasoning_content` in the thinking mode must be passed back to the API.'],
    ['reasoning', 'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2'],
    ['reasoning', 'Missing `reasoning_content` field in the assistant message at message index 2. For more information, please refer to …'],
    ['reasoning', 'Missing reasoning_content field in the assistant message at message index 40'],
  ])('%s: %s', (about, message) =>
    expect(refused(message)).toEqual(about !== 'item' ? { about } : { about, item: 'rs_0123', ...(message.includes('without') && { alone: true }) }),
  );

  test('a code alone is enough', () => expect(refused('no', 'invalid_encrypted_content')).toEqual({ about: 'signatures' }));
});

describe('another fault', () => {
  test.each([
    'max_tokens: Field required',
    'prompt is too long: 213462 tokens > 200000 maximum',
    '`temperature` may only be set to 1 when thinking is enabled',
    'messages.2: tool_use ids were found without tool_result blocks immediately after: toolu_1',
    'Request signature expired: 20251231T000000Z',
    'Unknown parameter: reasoning_content',
  ])('%s', (message) => expect(refused(message)).toBe(null));

  test('faults of the account or of the upstream’s state are never about signatures', () => {
    for (const kind of ['credential', 'account', 'rate', 'overloaded', 'timeout', 'connect', 'context'] as const)
      expect(readSignatureRefusal({ class: kind, message: 'Invalid `signature` in `thinking` block' })).toBe(null);
  });

  test('a hostile text is read in linear time', () => {
    const began = process.cpuUsage();
    for (const text of ['thinking blocks'.repeat(20_000), 'encrypted content'.repeat(20_000), "item 'rs_".repeat(30_000), '`'.repeat(300_000)]) refused(text);
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(5_000);
  });
});
