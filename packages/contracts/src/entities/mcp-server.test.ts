import { expect, test } from '@jest/globals';
import { isToolPattern } from './mcp-server.ts';

test.each(['*', '*.*', 's1.*', 'a-b_c.*', '*.get_a', '*.files/read', 's1.get_a', 's1.tools.get', '1.x'])('%s can match a tool', (pattern) => {
  expect(isToolPattern(pattern)).toBe(true);
});

test.each(['s1', 's1*', 's1.', '.get', '.', 's1.get*', '*.get*', 's1*.get', 's1__get_a', 'S1.get', 's1.get a', ' *', '**', 's1.**', 'sse.get', ''])(
  'nothing matches %j',
  (pattern) => {
    expect(isToolPattern(pattern)).toBe(false);
  },
);
