/** A forced call of a tool in bytes that pass through, to a family that refuses it while it thinks. */
import { expect, test } from '@jest/globals';
import type { WriteRequestContext } from '../../contract/index.ts';
import { own } from '../../kit/read.ts';
import { normalize } from './normalize.ts';

const tools = [{ type: 'function', function: { name: 'f' } }];
const named = { type: 'function', function: { name: 'f' } };

function edits(body: object, model = 'deepseek-v4-pro') {
  const target = { baseUrl: 'https://h', directPath: false, upstreamModelId: model, neutralHeaders: false, extraConfig: null };
  const context: WriteRequestContext = { target, operation: 'generate', stream: false, openSignature: () => null, mintId: (prefix) => prefix };
  const result = normalize((key) => own({ tools, ...body }, key), context as unknown as Parameters<typeof normalize>[1]);
  return { edits: result.edits, losses: result.losses.map((loss) => loss.field) };
}

test.each(['required', named])('thinking that nobody asked for is turned off: %j', (choice) => {
  expect(edits({ tool_choice: choice })).toEqual({ edits: [{ path: ['thinking'], value: { type: 'disabled' }, add: true }], losses: ['thinking'] });
});

test.each([
  [{ thinking: { type: 'enabled' } }, []],
  [{ reasoning_effort: 'high' }, [{ path: ['reasoning_effort'], value: undefined }]],
])('the call that was asked for outweighs thinking that was: %j', (asked, more) => {
  for (const choice of ['required', named])
    expect(edits({ tool_choice: choice, ...asked })).toEqual({
      edits: [{ path: ['thinking'], value: { type: 'disabled' }, add: true }, ...more],
      losses: ['thinking'],
    });
});

test('models that cannot stop thinking are asked rather than forced', () => {
  expect(edits({ tool_choice: named }, 'qwen3-235b-a22b-thinking-2507')).toEqual({
    edits: [{ path: ['tool_choice'], value: 'auto' }],
    losses: ['tool_choice'],
  });
});

test('Qwen is told in its own words', () => {
  const off = { edits: [{ path: ['enable_thinking'], value: false, add: true }], losses: ['thinking'] };
  expect(edits({ tool_choice: named, enable_thinking: true }, 'qwen-plus')).toEqual(off);
  expect(edits({ tool_choice: named }, 'qwen3.6-plus')).toEqual(off);
  expect(edits({ tool_choice: named }, 'qwen-plus')).toEqual({ edits: [], losses: [] });
});

test.each([{ tool_choice: 'auto' }, { tool_choice: 'none' }, {}, { tool_choice: 'required', thinking: { type: 'disabled' } }])('%j passes as it is', (body) => {
  expect(edits(body)).toEqual({ edits: [], losses: [] });
});

test('families that take it get it', () => {
  for (const model of ['deepseek-v3.2', 'gpt-4o', 'some-model']) expect(edits({ tool_choice: 'required' }, model).losses).toEqual([]);
});
