/** Mail of alerts against a strict server: TLS that is asked for is used and checked before anything is said, and a password never leaves without it. */
import { type AddressInfo, connect, createServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sealedAs } from '@model-gateway/contracts';
import { createKeyring, generateMasterKey } from '@model-gateway/secrets';
import { makeCertificate } from '../../../packages/upstream-client/test/certificates.ts';
import { type SmtpOptions, type SmtpServer, startSmtpServer } from '../../../tests/support/smtp-server.ts';
import { type Channel, deliver, type Outgoing } from '../src/alerts/deliver.ts';

const keyring = createKeyring(generateMasterKey());
const password = 'password-canary-1';
const login = { user: 'gateway', password };
const message: Outgoing = { id: 'm1', event: 'budget', subject: 'team', createdAt: 0, content: { title: 'A title', text: 'A text', data: {} } };

let tls: { key: string; cert: string };
const known = getCACertificates('default');
const servers: SmtpServer[] = [];

beforeAll(async () => {
  tls = await makeCertificate('localhost');
});
afterEach(async () => {
  setDefaultCACertificates(known);
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function mailServer(options: SmtpOptions): Promise<SmtpServer> {
  const server = await startSmtpServer(options);
  servers.push(server);
  return server;
}

const channelTo = ({ port }: SmtpServer, security: 'none' | 'starttls' | 'tls', secret: string | null = password) =>
  ({
    id: 'c1',
    name: 'mail',
    kind: 'email',
    from: 'gateway@example.com',
    to: ['ops@example.com'],
    smtp: { host: 'localhost', port, security, username: secret === null ? null : login.user },
    sealed_password: secret === null ? null : keyring.seal(secret, sealedAs.alertChannel('c1', 'password')),
  }) as unknown as Channel;

const send = (channel: Channel, more: object = {}) =>
  deliver(channel, message, {
    ...more,
    keyring,
    outbound: {
      openSocket: ({ port }: { port: number }, opened: (error: Error | null, socket?: ReturnType<typeof connect>) => void) => {
        const socket = connect(port, '127.0.0.1', () => opened(null, socket));
        socket.once('error', (error) => opened(error));
      },
    },
  } as unknown as Parameters<typeof deliver>[2]);

const trust = () => setDefaultCACertificates([...known, tls.cert]);
const said = (server: SmtpServer): string => server.plainLines.join('\n');

describe('with TLS', () => {
  test.each(['starttls', 'tls'] as const)('%s and a password: taken over TLS, signed in, nothing but the greeting in the clear', async (security) => {
    trust();
    const server = await mailServer({ tls, security, login });
    expect(await send(channelTo(server, security))).toBeNull();
    expect(server.mails).toMatchObject([{ secure: true, user: 'gateway', from: 'gateway@example.com', to: ['ops@example.com'] }]);
    expect(server.mails[0]?.text).toContain('Subject: A title');
    if (security === 'starttls') expect(server.plainLines.map((line) => line.split(' ')[0])).toEqual(['EHLO', 'STARTTLS']);
    else expect(server.plainLines).toEqual([]);
  });

  test('a wrong password is said to be refused, and another try cannot help', async () => {
    trust();
    const server = await mailServer({ tls, security: 'starttls', login });
    const fault = await send(channelTo(server, 'starttls', 'another-password'));
    expect(fault).toEqual({ error: 'the mail server did not take it (535)', terminal: true });
    expect(server.mails).toEqual([]);
  });

  test.each(['starttls', 'tls'] as const)('%s with a certificate that nobody vouches for: not a word of the mail, and no password', async (security) => {
    const server = await mailServer({ tls, security, login });
    expect(await send(channelTo(server, security))).toEqual({ error: 'the mail server did not take it (DEPTH_ZERO_SELF_SIGNED_CERT)', terminal: false });
    expect(server.mails).toEqual([]);
    expect(said(server)).not.toMatch(/AUTH|MAIL/);
  });

  test('a server, or somebody in between, that offers no STARTTLS gets neither mail nor password', async () => {
    trust();
    const server = await mailServer({ login });
    expect(await send(channelTo(server, 'starttls'))).toMatchObject({ error: expect.stringContaining('the mail server did not take it') });
    expect(server.mails).toEqual([]);
    expect(said(server)).not.toMatch(/AUTH|MAIL/);
  });
});

test('without TLS, for a server of the same network: no STARTTLS even where it is offered', async () => {
  const server = await mailServer({ tls, security: 'starttls' });
  expect(await send(channelTo(server, 'none', null))).toBeNull();
  expect(server.mails).toMatchObject([{ secure: false, user: null }]);
});

test('a password that cannot be opened is not left out', async () => {
  const server = await mailServer({});
  const channel = { ...channelTo(server, 'none'), sealed_password: 'v1.nonsense' } as Channel;
  expect(await send(channel)).toEqual({ error: 'the password of the mail server cannot be opened', terminal: true });
  expect(server.mails).toEqual([]);
});

test('recipients whom the server does not know are named, while the others have it', async () => {
  const server = await mailServer({ unknown: ['gone@example.com'] });
  const channel = { ...channelTo(server, 'none', null), to: ['ops@example.com', 'gone@example.com'] } as Channel;
  expect(await send(channel)).toEqual({ error: 'the mail server did not take it for gone@example.com', terminal: true, isPartial: true });
  expect(server.mails).toMatchObject([{ to: ['ops@example.com'] }]);
  expect(await send({ ...channel, to: ['gone@example.com'] } as Channel)).toEqual({ error: 'the mail server did not take it (550)', terminal: true });
});

test('a server that cannot be reached is said to be so', async () => {
  const server = await mailServer({});
  await server.close();
  expect(await send(channelTo(server, 'none', null))).toEqual({ error: 'the mail server did not take it (ECONNREFUSED)', terminal: false });
});

test('a server that never comes to the end of its answer is given up, and its connection closed', async () => {
  let gone = (): void => {};
  const isGone = new Promise<void>((resolve) => {
    gone = resolve;
  });
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('close', gone);
    socket.write('220 test\r\n');
    socket.on('data', () => socket.write('250-and\r\n'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  expect(await send(channelTo({ port } as SmtpServer, 'none', null), { mailMs: 300 })).toEqual({
    error: 'the mail server did not take it (ETIMEDOUT)',
    terminal: false,
  });
  await isGone;
  await new Promise((resolve) => server.close(resolve));
});
