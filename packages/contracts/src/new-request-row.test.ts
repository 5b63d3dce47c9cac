import { expect, test } from '@jest/globals';
import { newRequestRow } from './new-request-row.ts';

const key = `gk-${'a1B2c3D4e5'.repeat(4)}f6G7h8`;
const known = { id: 'r-1', started_at: 1, authority: 1, status: 200 } as const;

test('no access key of a caller is kept, wherever it was written', () => {
  const row = newRequestRow({
    ...known,
    client_request_id: key,
    requested_model: key,
    user_agent: `curl/8 (${key}) gk-tool/1.0`,
    session_id: `s_${key}`,
    path: `GET /v1/services/tasks/${key}`,
  });
  expect(row).toMatchObject({
    client_request_id: 'gk-[redacted]',
    requested_model: 'gk-[redacted]',
    user_agent: 'curl/8 (gk-[redacted]) gk-tool/1.0',
    path: 'GET /v1/services/tasks/gk-[redacted]',
  });
  expect(JSON.stringify(row)).not.toContain(key.slice(3));
  // A text that was cut in the middle of a key.
  expect(newRequestRow({ ...known, user_agent: key.slice(0, 40) }).user_agent).toBe('gk-[redacted]');
});

test('a key that was brought along from another gateway is one, too', () => {
  const brought = `sk-${'a1B2-c3D4_'.repeat(3)}`;
  expect(newRequestRow({ ...known, requested_model: brought, user_agent: `risk-${'assessment'.repeat(3)}` })).toMatchObject({
    requested_model: 'sk-[redacted]',
    user_agent: `risk-${'assessment'.repeat(3)}`,
  });
});

test('names that begin as keys do stay', () => {
  expect(newRequestRow({ ...known, requested_model: 'gk-large-v2', user_agent: null })).toMatchObject({
    requested_model: 'gk-large-v2',
    user_agent: null,
    session_id: null,
  });
});
