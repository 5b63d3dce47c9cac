/** Where sessions are opened, whichever of the vendor's addresses an upstream has. */
import { expect, test } from '@jest/globals';
import { deltaRealtime } from './index.ts';

const url = 'wss://dashscope.aliyuncs.com/api-ws/v1/realtime?model=qwen-omni';

test.each([
  ['https://dashscope.aliyuncs.com', false, url],
  ['https://dashscope.aliyuncs.com/', false, url],
  ['https://dashscope.aliyuncs.com/api/v1', false, url],
  ['https://dashscope.aliyuncs.com/compatible-mode/v1', false, url],
  ['https://dashscope.aliyuncs.com/api-ws/v1/realtime', false, url],
  ['https://dashscope.aliyuncs.com/api-ws/v1/realtime', true, url],
  ['http://127.0.0.1:9', false, 'ws://127.0.0.1:9/api-ws/v1/realtime?model=qwen-omni'],
])('%s', (baseUrl, directPath, expected) => {
  const target = { baseUrl, directPath, upstreamModelId: 'qwen-omni', neutralHeaders: false, extraConfig: null };
  expect(deltaRealtime.upstream?.realtime?.realtime?.connect({ target, clientHeaders: { 'openai-beta': 'realtime=v1' } })).toEqual({
    url: expected,
    headers: {},
  });
});
