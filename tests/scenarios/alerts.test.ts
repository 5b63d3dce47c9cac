/** Alerts through the whole gateway: each event once, however many consoles there are, by webhook, Slack and mail, tried again where it is not taken. */
import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { askFrom } from '../support/ask-from.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { type SmtpServer, startSmtpServer } from '../support/smtp-server.ts';

interface Received {
  path: string;
  headers: Record<string, unknown>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: assertions look into it freely.
  body: any;
}

const patience = 90_000;

describe.each(arrangements('alerts'))('alerts, %s', (arrangement) => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let receiver: Server;
  let mail: SmtpServer;
  let origin: string;
  const received: Received[] = [];
  /** Path → statuses to answer before 200. */
  const refusals = new Map<string, number[]>();
  const spender = mintAccessKey();

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8');
      request.on('data', (piece: string) => {
        text += piece;
      });
      request.on('end', () => {
        received.push({ path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) });
        response.statusCode = refusals.get(request.url ?? '')?.shift() ?? 200;
        response.end('what the receiver says is nobody’s business');
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    [mail, upstream] = await Promise.all([startSmtpServer(), startFakeUpstream()]);
    gateway = await startGateway({ arrangement, env: { CONSOLE_MAX_FAILURES: '3' }, ...(arrangement === 'split' && { twice: ['console'] as const }) });
    await gateway.configure({
      upstreams: [
        { name: 'fake', protocol: 'alpha', base_url: upstream.url, api_keys: [{ key: 'sk-fake' }] },
        { name: 'ill', protocol: 'alpha', base_url: upstream.url, api_keys: [] },
      ],
      models: [
        { name: 'gpt-4o', upstream: 'fake', upstream_model_id: 'text:2000' },
        { name: 'sick', upstream: 'ill', upstream_model_id: 'status:500' },
        { name: 'nameless', upstream: 'fake', upstream_model_id: 'ok' },
      ],
      access_keys: [{ name: 'spender', group: 'everyone', key: spender, owner: 'ada@example.com', budget: { limit: 0.02, period: 'total' } }],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await Promise.all([upstream?.close(), mail?.close(), new Promise((resolve) => receiver?.close(resolve))]);
  });

  const of = (path: string, event: string) => received.filter((one) => one.path === path && one.body.event === event);
  const ask = (model: string, key = gateway.key, from = '127.0.0.1') =>
    askFrom(from, `${gateway.url}/v1/chat/completions`, { key, body: { model, messages: [{ role: 'user', content: 'hi' }] } });
  const messages = async () => (await gateway.console('GET', '/alert-messages?limit=500')).body.items as { event: string; state: string; channel: string }[];

  test('channels are made, their secrets are shown to nobody, and each is tested', async () => {
    const hook = { name: 'hook', kind: 'webhook', url: `${origin}/hook/path-canary`, secret: 'secret-canary-1', quiet_minutes: 60 };
    const smtp = { host: '127.0.0.1', port: mail.port, security: 'none', username: null, password: null };
    const made = [
      await gateway.console('POST', '/alert-channels', hook),
      await gateway.console('POST', '/alert-channels', { name: 'slack', kind: 'slack', url: `${origin}/services/slack`, events: ['ban'] }),
      await gateway.console('POST', '/alert-channels', {
        name: 'mail',
        kind: 'email',
        smtp,
        from: 'gateway@example.com',
        to: ['ops@example.com'],
        to_owner: true,
        events: ['budget', 'key_new_address'],
      }),
    ];
    expect(made.map(({ status, body }) => [status, status === 201 ? '' : body])).toEqual(made.map(() => [201, '']));
    expect(made[0]?.body).toMatchObject({ url: `${origin}/********`, secret: '********' });
    const shown = JSON.stringify([made, (await gateway.console('GET', '/alert-channels')).body, (await gateway.console('GET', '/export?format=json')).body]);
    expect(shown).not.toContain('canary');
    for (const name of ['hook', 'slack', 'mail'])
      expect((await gateway.console('POST', `/alert-channels/${name}/test`)).body).toEqual({ delivered: true, error: null });
    const [first] = of('/hook/path-canary', 'test');
    expect(first?.headers['x-gateway-signature']).toBe(
      `sha256=${createHmac('sha256', 'secret-canary-1')
        .update(first?.text ?? '')
        .digest('hex')}`,
    );
    expect(received.find(({ path }) => path === '/services/slack')?.body).toEqual({ text: expect.stringContaining('Test of an alert channel') });
    expect(mail.mails).toMatchObject([{ from: 'gateway@example.com', to: ['ops@example.com'] }]);
    // What was read may be sent back whole: masks keep what is stored.
    expect((await gateway.console('PATCH', '/alert-channels/hook', { url: `${origin}/********`, secret: '********', description: 'x' })).status).toBe(200);
    expect((await gateway.console('POST', '/alert-channels/hook/test')).body.delivered).toBe(true);
    const audit = await gateway.console('GET', '/audit-logs?entity_type=alert_channel&limit=100');
    expect(new Set(audit.body.items.map(({ action }: { action: string }) => action))).toEqual(new Set(['create', 'update', 'test']));
  });

  test('bad channels are refused by field', async () => {
    const send = async (body: object) =>
      (await gateway.console('POST', '/alert-channels', { name: 'bad', ...body })).body.error?.details?.map(({ field }: { field: string }) => field);
    expect(await send({ kind: 'webhook' })).toEqual(['url']);
    expect(await send({ kind: 'webhook', url: 'http://169.254.169.254/latest' })).toEqual(['url']);
    expect(await send({ kind: 'webhook', url: 'https://user:word@h.example.com/x' })).toEqual(['url']);
    // Microsoft Teams has such addresses.
    expect(await send({ kind: 'webhook', url: 'https://h.example.com/hook/one@two/x?to=a@b', enabled: false })).toBeUndefined();
    expect(await send({ kind: 'email' })).toEqual(['smtp', 'from', 'to']);
    expect(await send({ kind: 'slack', url: 'https://h.example.com/x', to: ['a@example.com\r\nBcc: b@example.com'] })).toEqual(['to.0']);
  });

  test('an upstream that fails is told once, and that it recovered', async () => {
    for (let count = 0; count < 4; count++) await ask('sick');
    await until(async () => of('/hook/path-canary', 'upstream_failing').length > 0, 'the failing upstream to be told', patience);
    expect(of('/hook/path-canary', 'upstream_failing')[0]?.body).toMatchObject({ subject: 'ill', data: { status: 'failing' } });
    await gateway.console('PATCH', '/upstreams/ill', { enabled: false });
    await until(async () => of('/hook/path-canary', 'upstream_recovered').length > 0, 'the recovery to be told', patience);
    expect(of('/hook/path-canary', 'upstream_failing')).toHaveLength(1);
    expect(of('/hook/path-canary', 'upstream_recovered')[0]?.body).toMatchObject({ title: 'Upstream ill is switched off', data: { reason: 'disabled' } });
    // It fails again within the quiet time: held back, and recorded.
    await gateway.console('PATCH', '/upstreams/ill', { enabled: true });
    for (let count = 0; count < 4; count++) await ask('sick');
    await until(async () => (await messages()).some(({ event, state }) => event === 'upstream_failing' && state === 'quiet'), 'it to be held back', patience);
    expect(of('/hook/path-canary', 'upstream_failing')).toHaveLength(1);
  });

  test('a budget that is passed at once is told by its highest level, to the owner too, and again where it is not taken', async () => {
    refusals.set('/hook/path-canary', [503]);
    expect((await ask('gpt-4o', spender)).status).toBe(200);
    await until(async () => of('/hook/path-canary', 'budget').length > 1, 'the budget to be told again', patience);
    const told = of('/hook/path-canary', 'budget');
    expect(told.map(({ body }) => body.data.threshold)).toEqual([80, 80].map(() => told[0]?.body.data.threshold));
    expect(new Set(told.map(({ body }) => body.id)).size).toBe(1);
    await until(async () => mail.mails.some(({ text }) => text.includes('spender')), 'the mail', patience);
    expect(mail.mails.find(({ text }) => text.includes('spender'))?.to).toEqual(['ops@example.com', 'ada@example.com']);
    await until(
      async () => (await messages()).filter(({ event }) => event === 'budget').every(({ state }) => state === 'sent'),
      'both to be recorded',
      patience,
    );
  });

  test('a key from a new address, and a word to its owner alone', async () => {
    await ask('sick', spender, '127.0.0.9');
    await until(async () => of('/hook/path-canary', 'key_new_address').length > 0, 'the address to be told', patience);
    expect(of('/hook/path-canary', 'key_new_address')[0]?.body.data).toMatchObject({ access_key: 'spender', address: '127.0.0.9' });
    const before = mail.mails.length;
    expect((await gateway.console('POST', '/access-keys/spender/tell-owner')).body).toEqual({ told: 'ada@example.com' });
    await until(async () => mail.mails.slice(before).some(({ to }) => to.join() === 'ada@example.com'), 'the owner to be told', patience);
  });

  test('an address that is banned, a model without a price, and a key near its expiry', async () => {
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    await gateway.console('PATCH', '/access-keys/spender', { expires_at: inDays(3) });
    await gateway.console('POST', '/access-keys', { name: 'later', group: 'everyone', expires_at: inDays(30) });
    expect((await ask('nameless')).status).toBe(200);
    const guess = () => askFrom('127.0.0.8', `${gateway.consoleUrl}/login`, { key: 'nobody', body: { username: 'admin', password: 'guessed-wrong' } });
    // Each console counts for itself, and either may be asked.
    await until(async () => (await guess()).status === 429, 'the address to be banned', patience);
    await until(async () => of('/hook/path-canary', 'ban').length > 0, 'the ban to be told', patience);
    expect(of('/hook/path-canary', 'ban')[0]?.body).toMatchObject({ subject: '127.0.0.8', data: { address: '127.0.0.8' } });
    await until(async () => received.some(({ path, text }) => path === '/services/slack' && text.includes('127.0.0.8')), 'Slack to be told too', patience);
    await until(async () => of('/hook/path-canary', 'price_missing').some(({ body }) => body.subject === 'nameless'), 'the price to be missed', patience);
    await until(async () => of('/hook/path-canary', 'key_expiring').length > 0, 'the expiry to be told', patience);
    expect(of('/hook/path-canary', 'key_expiring').map(({ body }) => body.subject)).toEqual(['spender']);
    // Each once, although every console looks.
    for (const event of ['ban', 'price_missing', 'key_expiring']) expect([event, of('/hook/path-canary', event).length]).toEqual([event, 1]);
  });
});
