/** Pain 19 through the gateway: flags that an upstream does not know cost one repeated call, once. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createAnsweringOutbound, jsonScript } from '../support/scripted-upstream.ts';

const outbound = createAnsweringOutbound();
let gateway: InProcessGateway;
beforeAll(async () => {
  gateway = await startInProcess({
    upstreams: [
      { name: 'vendor', protocol: 'beta', base_url: 'https://api.anthropic.com', api_keys: [{ key: 'sk-1' }] },
      { name: 'compatible', protocol: 'beta', base_url: 'https://compatible.test', api_keys: [{ key: 'sk-2' }] },
      { name: 'cloud', protocol: 'cloudhost_invoke', base_url: 'https://cloud.test', api_keys: [{ key: 'bearer' }] },
    ],
    models: ['vendor', 'compatible', 'cloud'].map((name) => ({ name, upstream: name, upstream_model_id: 'anthropic.claude-sonnet-4-5' })),
    outbound,
  });
});
afterAll(() => gateway.stop());

const reply = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'x',
  content: [{ type: 'text', text: 'ok' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
};
const ask = async (model: string, flags: string) => {
  outbound.sent.length = 0;
  const answer = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': gateway.key, 'content-type': 'application/json', 'anthropic-version': '2023-06-01', 'anthropic-beta': flags },
    body: JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }),
  });
  return { status: answer.status, text: await answer.text(), row: await gateway.row(answer.headers.get('x-request-id')!) };
};
const flagsSent = () => outbound.sent.map(({ headers, body }) => headers['anthropic-beta'] ?? JSON.parse(body).anthropic_beta?.join(',') ?? '');

test('the vendor gets all; another gets what is documented, and the row says what it did not', async () => {
  outbound.answer = () => jsonScript(200, reply);
  await ask('vendor', 'oauth-2025-04-20,new-2031-01-01');
  expect(flagsSent()).toEqual(['oauth-2025-04-20,new-2031-01-01']);
  const { row } = await ask('compatible', 'effort-2025-11-24,new-2031-01-01');
  expect(flagsSent()).toEqual(['effort-2025-11-24']);
  expect(row.losses).toContainEqual(expect.objectContaining({ field: 'anthropic-beta', action: 'dropped' }));
});

test('a refused flag is left out of one more call, and of later ones', async () => {
  const refuses = 'context-1m-2025-08-07';
  outbound.answer = ({ headers }) =>
    headers['anthropic-beta']?.includes(refuses)
      ? jsonScript(400, {
          type: 'error',
          error: { type: 'invalid_request_error', message: `Unexpected value(s) \`${refuses}\` for the \`anthropic-beta\` header.` },
        })
      : jsonScript(200, reply);
  const { status, row } = await ask('compatible', `${refuses},effort-2025-11-24`);
  expect(status).toBe(200);
  expect(flagsSent()).toEqual([`${refuses},effort-2025-11-24`, 'effort-2025-11-24']);
  expect(row.attempts.map((one) => one.status)).toEqual([400, 200]);
  await ask('compatible', `${refuses},effort-2025-11-24`);
  expect(flagsSent()).toEqual(['effort-2025-11-24']);
  outbound.answer = () => jsonScript(200, reply);
  await ask('vendor', refuses);
  expect(flagsSent()).toEqual([refuses]);
});

test('a host that wants flags in the body, and names none of those it refuses', async () => {
  outbound.answer = ({ body }) => (body.includes('anthropic_beta') ? jsonScript(400, { message: 'invalid beta flag' }) : jsonScript(200, reply));
  expect((await ask('cloud', 'effort-2025-11-24')).status).toBe(200);
  expect(flagsSent()).toEqual(['effort-2025-11-24', '']);
});

test('another fault is not asked again', async () => {
  outbound.answer = () => jsonScript(400, { type: 'error', error: { type: 'invalid_request_error', message: 'messages: too few' } });
  expect((await ask('vendor', 'effort-2025-11-24')).status).toBe(400);
  expect(outbound.sent).toHaveLength(1);
});
