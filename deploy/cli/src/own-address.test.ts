import { expect, test } from '@jest/globals';
import { ownAddress } from './own-address.ts';

test.each([
  ['0.0.0.0', 'http://127.0.0.1:7890'],
  ['127.0.0.1', 'http://127.0.0.1:7890'],
  ['192.0.2.7', 'http://192.0.2.7:7890'],
  ['gateway.local', 'http://gateway.local:7890'],
  ['::', 'http://[::1]:7890'],
  ['::1', 'http://[::1]:7890'],
])('who listens on %s is reached at %s', (host, address) => {
  expect(ownAddress({ host, port: 7890 })).toBe(address);
  expect(new URL(address).origin).toBe(address);
});
