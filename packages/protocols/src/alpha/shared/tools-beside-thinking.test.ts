/** Tools and thinking of models whose vendor refuses them together over chat completions. */
import { expect, test } from '@jest/globals';
import type { Conversation } from '../../chat/conversation.ts';
import type { Target } from '../../contract/index.ts';
import { writeRequest } from '../upstream/write-request.ts';

const tools: Conversation['tools'] = [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }];
const turns: Conversation['turns'] = [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }];

function write(upstreamModelId: string, asked: Partial<Conversation>, baseUrl = 'https://api.openai.com') {
  const target: Target = { baseUrl, directPath: false, upstreamModelId, neutralHeaders: false, extraConfig: null };
  const conversation: Conversation = { system: [], turns, tools, sampling: {}, stream: false, ...asked };
  const { body, losses } = writeRequest(conversation, { target, operation: 'generate', stream: false, openSignature: () => null, mintId: (prefix) => prefix });
  const { reasoning_effort: effort } = body as { reasoning_effort?: string };
  return { effort, losses: losses.map(({ field, action }) => `${action} ${field}`) };
}

const thinks: Partial<Conversation> = { reasoning: { enabled: true, effort: 'high' } };
const off: Partial<Conversation> = { reasoning: { enabled: false } };
const given = ['downgraded thinking'];

test.each([
  ['gpt-5.4', thinks, undefined, given],
  ['gpt-5.5', off, undefined, []],
  ['gpt-5.5', {}, undefined, []],
  ['gpt-5.6-sol', thinks, 'none', given],
  ['gpt-5.6-sol', {}, 'none', given],
  ['gpt-6.1-sol', off, 'none', []],
  ['gpt-5.2', thinks, 'high', []],
  ['gpt-5.6-sol', { ...thinks, tools: [] }, 'high', []],
] as const)('%s asked %j', (model, asked, effort, losses) => {
  expect(write(model, asked as Partial<Conversation>)).toEqual({ effort, losses: [...losses] });
});

test.each(['https://eu.api.openai.com/v1', 'https://API.openai.com:443'])('regions of the vendor refuse it as well: %s', (baseUrl) => {
  expect(write('gpt-5.6-sol', thinks, baseUrl).effort).toBe('none');
});

test.each(['https://openrouter.ai/api/v1', 'https://relay.test/api.openai.com', 'https://notopenai.com'])('others take both: %s', (baseUrl) => {
  expect(write('gpt-5.6-sol', thinks, baseUrl)).toEqual({ effort: 'high', losses: [] });
});
