/** What each protocol's requests say of the length of their replies, odd and hostile values included. */
import { describe, expect, test } from '@jest/globals';
import type { ProtocolId } from '@model-gateway/contracts';
import fc from 'fast-check';
import { chatClients, findProtocol } from '../src/index.ts';

const said = (id: ProtocolId, body: Record<string, unknown>) =>
  findProtocol(id)!.client!.readReplyLimits!((key) => (Object.hasOwn(body, key) ? body[key] : undefined));

describe('what a request says of its replies', () => {
  test.each<[ProtocolId, Record<string, unknown>, object]>([
    ['alpha', {}, { replies: 1 }],
    ['alpha', { max_tokens: 10 }, { output: 10, replies: 1 }],
    ['alpha', { max_tokens: 10, max_completion_tokens: 20, n: 3 }, { output: 20, replies: 3 }],
    ['alpha', { max_output_tokens: 7.2 }, { output: 8, replies: 1 }],
    ['alpha', { max_tokens: 5, thinking_budget: 100 }, { output: 5, thinking: 100, replies: 1 }],
    ['alpha', { max_tokens: 5, thinking_budget: 100, enable_thinking: false }, { output: 5, thinking: 0, replies: 1 }],
    ['alpha', { max_tokens: 5, n: 2, best_of: 4, prompt: ['a', 'b'] }, { output: 5, replies: 8 }],
    ['alpha', { prompt: [1, 2, 3] }, { replies: 1 }],
    ['alpha', { prompt: 'one', n: 1e9 }, { replies: 128 }],
    ['alpha', { max_tokens: -1, n: 0 }, { replies: 1 }],
    ['alpha', { max_tokens: '10', n: [2], thinking_budget: {} }, { replies: 1 }],
    ['beta', { max_tokens: 64 }, { output: 64, replies: 1 }],
    ['beta', { max_tokens: 64, thinking: { type: 'enabled', budget_tokens: 32 } }, { output: 64, thinking: 32, replies: 1 }],
    ['beta', { max_tokens: 64, thinking: { type: 'disabled' } }, { output: 64, thinking: 0, replies: 1 }],
    ['gamma', { generationConfig: { maxOutputTokens: '64', candidateCount: 2 } }, { output: 64, replies: 2 }],
    ['gamma', { generation_config: { max_output_tokens: 64, thinking_config: { thinking_budget: 5 } } }, { output: 64, thinking: 5, replies: 1 }],
    ['gamma', { generationConfig: { thinkingConfig: { thinkingBudget: -1 } }, generation_config: null }, { replies: 1 }],
    ['alpha_response', { max_output_tokens: 12, n: 4 }, { output: 12, replies: 1 }],
    ['alpha', { service_tier: 'fast' }, { replies: 1, serviceTiers: ['fast', 'priority'] }],
    ['alpha', { service_tier: 'auto' }, { replies: 1 }],
    ['alpha', { service_tier: 'Performance' }, { replies: 1, serviceTiers: ['performance', 'priority'] }],
    ['alpha', { service_tier: 'Default' }, { replies: 1 }],
    ['alpha_response', { service_tier: 'flex' }, { replies: 1, serviceTiers: ['flex'] }],
    ['beta', { max_tokens: 5, speed: 'fast', service_tier: 'standard_only' }, { output: 5, replies: 1, serviceTiers: ['fast', 'priority'] }],
    ['gamma', { serviceTier: 'PRIORITY' }, { replies: 1, serviceTiers: ['priority'] }],
    ['alpha_images', { n: 4 }, { output: 8192, thinking: 0, replies: 4, images: 4 }],
    ['alpha_images', { n: 'many' }, { output: 8192, thinking: 0, replies: 1, images: 1 }],
  ])('%s %j', (id, body, expected) => expect(JSON.parse(JSON.stringify(said(id, body)))).toEqual(expected));

  test.each(chatClients.filter(({ client }) => client.readReplyLimits).map(({ id }) => id))('%s: no value breaks it', (id) => {
    const { limitKeys = [] } = findProtocol(id)!.client!;
    expect(limitKeys.length).toBeGreaterThan(0);
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...limitKeys), fc.anything()), (body) => {
        const { output, thinking, replies } = said(id, body);
        expect(replies).toBeGreaterThanOrEqual(1);
        for (const limit of [output, thinking]) if (limit !== undefined) expect(limit).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
