/** Losses of a translation at the fields in which callers said what is lost. */
import { expect, test } from '@jest/globals';
import type { Loss, ProtocolId } from '@model-gateway/contracts';
import { findProtocol } from '../registry.ts';
import { nameForCaller } from './caller-fields.ts';

const named = (client: ProtocolId, ...fields: string[]): string[] => {
  const losses = fields.map((field): Loss => ({ field, action: 'dropped', detail: 'why' }));
  return nameForCaller(losses, findProtocol(client)?.client?.callerFields).map(({ field }) => field);
};

test.each<[ProtocolId, string[]]>([
  ['alpha', ['stop', 'top_k', 'reasoning.effort', 'messages.signature', 'response_format.strict']],
  ['alpha_response', ['stop', 'top_k', 'reasoning.effort', 'input.signature', 'text.format.strict']],
  ['beta', ['stop_sequences', 'top_k', 'reasoning.effort', 'messages.content.signature', 'output_config.format.strict']],
  [
    'gamma',
    ['generationConfig.stopSequences', 'generationConfig.topK', 'generationConfig.thinkingConfig', 'contents.parts.thoughtSignature', 'response_format.strict'],
  ],
])('%s', (client, own) => {
  expect(named(client, 'stop', 'top_k', 'reasoning.effort', 'messages.signature', 'response_format.strict')).toEqual(own);
  expect(named(client, 'media.detail')).toEqual(['media.detail']);
});
