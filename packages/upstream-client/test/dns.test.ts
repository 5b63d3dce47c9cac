/** Names resolved by real servers of each scheme, end to end through a call. */

import { isIPv4 } from 'node:net';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { encode, type Packet } from 'dns-packet';
import fc from 'fast-check';
import { createExchanges } from '../src/dns/exchange.ts';
import { type DnsReply, readReply } from '../src/dns/message.ts';
import { createDnsResolver } from '../src/dns/resolver.ts';
import type { DnsServer } from '../src/index.ts';
import { send } from './calls.ts';
import { type Certificate, makeCertificate } from './certificates.ts';
import { type Answering, address, alias, cleanUp, startDns, startDnsOverHttps, startDnsOverTls } from './servers.ts';
import { egress, startTarget, use } from './support.ts';

afterEach(cleanUp);
let certificate: Certificate;
beforeAll(async () => {
  certificate = await makeCertificate('dns.test');
});

const home: Answering = (name, type) => ({ answers: type === 'A' ? [address(name, '127.0.0.1')] : [] });
const call = async (servers: string[], name = 'api.test') => {
  const target = await startTarget();
  return send(use(), {
    url: `http://${name}:${target.port}/`,
    egress: egress({ dns: { servers, ttl_secs: null }, tls: { ca: certificate.cert } }),
  }).done;
};

describe('each scheme', () => {
  test('none: UDP', async () => {
    const dns = await startDns(home);
    expect(await call([`127.0.0.1:${dns.port}`])).toBe('end');
    // A reply that is late is asked for again.
    expect([...new Set(dns.asked)].sort()).toEqual(['udp api.test A', 'udp api.test AAAA']);
  });

  test('udp://, again over TCP when the answer is cut', async () => {
    const dns = await startDns((name, type, over) => (over === 'udp' ? { truncated: true } : home(name, type, over)));
    expect(await call([`udp://127.0.0.1:${dns.port}`])).toBe('end');
    expect(dns.asked).toContain('tcp api.test A');
    // Without a scheme there is no TCP: a cut answer without an address is none.
    expect(await call([`127.0.0.1:${dns.port}`])).toMatchObject({ class: 'connect', phase: 'dns' });
  });

  test('tls://', async () => {
    const dns = await startDnsOverTls(home, certificate);
    expect(await call([`tls://127.0.0.1:${dns.port}`])).toBe('end');
    expect(dns.asked).toContain('tls api.test A');
  });

  test('https://', async () => {
    const dns = await startDnsOverHttps(home, certificate);
    expect(await call([`https://127.0.0.1:${dns.port}/dns-query`])).toBe('end');
    expect(dns.asked).toContain('https api.test A');
    expect(await call([`https://127.0.0.1:${dns.port}/elsewhere`])).toMatchObject({ class: 'connect', phase: 'dns' });
  });

  test.each([
    ['tls', startDnsOverTls],
    ['https', startDnsOverHttps],
  ] as const)('%s:// with a certificate that is not trusted is no server', async (scheme, start) => {
    const dns = await start(home, await makeCertificate('other.test'));
    expect(await call([`${scheme}://127.0.0.1:${dns.port}`])).toMatchObject({ class: 'connect', phase: 'dns' });
    expect(dns.asked).toEqual([]);
  });
});

describe('answers', () => {
  test('what is resolved is judged when it is dialled', async () => {
    for (const data of ['169.254.169.254', '0.0.0.0', '100.100.100.200']) {
      const dns = await startDns((name, type) => ({ answers: type === 'A' ? [address(name, data)] : [] }));
      expect([data, await call([`127.0.0.1:${dns.port}`])]).toMatchObject([data, { class: 'refused-address', phase: 'dns' }]);
    }
    const inner = await startDns((name, type) => ({ answers: type === 'AAAA' ? [{ type, name, data: '::ffff:169.254.169.254', ttl: 1 }] : [] }));
    expect(await call([`127.0.0.1:${inner.port}`])).toMatchObject({ class: 'refused-address' });
  });

  test('a name that changes its address to a refused one (rebinding) is refused at the next connection', async () => {
    let asked = 0;
    const dns = await startDns((name, type) => ({ answers: type === 'A' ? [address(name, asked++ === 0 ? '127.0.0.1' : '169.254.169.254', 0)] : [] }));
    const target = await startTarget();
    const outbound = use();
    const way = egress({ dns: { servers: [`127.0.0.1:${dns.port}`], ttl_secs: null } });
    const again = () => send(outbound, { url: `http://api.test:${target.port}/`, egress: way }).done;
    expect(await again()).toBe('end');
    // Closing the connection makes the next call dial anew.
    for (const socket of target.sockets) socket.destroy();
    // One call may still be given the closed connection, until the client has noticed.
    let last = await again();
    for (let calls = 1; calls < 20 && last !== 'end' && last.class !== 'refused-address'; calls++) last = await again();
    expect(last).toMatchObject({ class: 'refused-address' });
  });

  test('aliases are followed, inside an answer and by asking on, but not for ever', async () => {
    const dns = await startDns((name, type) => {
      if (type !== 'A') return {};
      if (name === 'api.test') return { answers: [alias(name, 'B.test'), alias('b.test', 'c.test'), address('evil.test', '127.0.0.9')] };
      if (name === 'c.test') return { answers: [address(name, '127.0.0.1')] };
      return { answers: [alias(name, `x${name}`)] };
    });
    expect(await call([`127.0.0.1:${dns.port}`])).toBe('end');
    expect(await call([`127.0.0.1:${dns.port}`], 'loop.test')).toMatchObject({ class: 'connect', phase: 'dns' });
    expect(dns.asked.length).toBeLessThan(60);
    const round = await startDns((name) => ({ answers: [alias(name, 'b.test'), alias('b.test', name)] }));
    expect(await call([`127.0.0.1:${round.port}`])).toMatchObject({ class: 'connect', phase: 'dns' });
  });

  test('a reply with another id, name or type, and what is no reply, is not the answer', async () => {
    const forged: ((reply: Packet) => Packet)[] = [
      (reply) => ({ ...reply, id: ((reply.id ?? 0) + 1) % 65_536 }),
      (reply) => ({ ...reply, questions: [{ type: 'A', name: 'other.test' }] }),
      (reply) => ({ ...reply, questions: [{ type: 'TXT', name: 'api.test' }] }),
      (reply) => ({ ...reply, questions: [] }),
      (reply) => ({ ...reply, type: 'query' }),
    ];
    const ends = forged.map(async (forge) => {
      const dns = await startDns((name, type) => ({ answers: type === 'A' ? [address(name, '127.0.0.1')] : [], forge }));
      return call([`127.0.0.1:${dns.port}`]);
    });
    for (const end of await Promise.all(ends)) expect(end).toMatchObject({ class: 'connect', phase: 'dns' });
  });

  test('servers are asked in order: one that is silent, that fails or that talks nonsense is passed over', async () => {
    const silent = await startDns(() => null);
    const failing = await startDns(() => ({ rcode: 2 }));
    const good = await startDns(home);
    expect(await call([`127.0.0.1:${failing.port}`, `127.0.0.1:${silent.port}`, 'udp://127.0.0.1:1', `127.0.0.1:${good.port}`])).toBe('end');
    // A datagram that is lost is sent again.
    expect(silent.asked.length).toBeGreaterThan(2);
    const none = await startDns(() => ({ rcode: 3 }));
    expect(await call([`127.0.0.1:${none.port}`, `127.0.0.1:${good.port}`])).toMatchObject({ class: 'connect', phase: 'dns' });
  });
});

test('a server to which no datagram can be sent fails alone', async () => {
  const { exchange, close } = createExchanges({ policy: { allowPrivate: true }, tls: {} });
  // The system refuses to connect to the broadcast address, as it does to IPv6 addresses where it has no IPv6.
  const server: DnsServer = { scheme: 'udp', host: '255.255.255.255', port: 53, path: '' };
  await expect(exchange(server, { id: 1, name: 'api.test', type: 'A' })).rejects.toThrow(/^connect E/);
  await close();
});

test('bytes of all kinds are a reply or none, never an exception', () => {
  const question = { id: 7, name: 'a.test', type: 'A' as const };
  const whole = encode({
    type: 'response',
    id: 7,
    questions: [{ type: 'A', name: 'a.test' }],
    answers: [alias('a.test', 'b.test'), address('b.test', '192.0.2.1')],
  });
  expect(readReply(whole, question)).toMatchObject({ addresses: ['192.0.2.1'], alias: null, ttl: 60 });
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 6 }), fc.nat(whole.length), (changes, length) => {
      const bytes = Buffer.from(whole);
      for (const [at, value] of changes) bytes[at] = value;
      for (const one of readReply(bytes.subarray(0, length), question)?.addresses ?? []) expect(isIPv4(one)).toBe(true);
    }),
  );
});

describe('the cache', () => {
  const server: DnsServer = { scheme: 'plain', host: '127.0.0.1', port: 53, path: '' };
  const reply = (more: Partial<DnsReply>): DnsReply => ({ rcode: 'NOERROR', truncated: false, addresses: [], alias: null, ttl: 60, ...more });
  const resolver = (ttlSecs: number, answer: (name: string) => Partial<DnsReply>) => {
    const clock = { now: 0, asked: 0 };
    const made = createDnsResolver(
      { servers: [server], ttlSecs },
      async (_server, { name, type }) => {
        if (type === 'A') clock.asked++;
        await new Promise((resolve) => setTimeout(resolve, 1));
        return reply(type === 'A' ? answer(name) : {});
      },
      () => clock.now,
    );
    return { clock, made };
  };

  test('keeps an answer for its own time, at most for ttl_secs', async () => {
    for (const [ttl, cap, lives] of [
      [60, 300, 60],
      [600, 300, 300],
      [0, 300, 0],
      [60, 0, 0],
    ] as const) {
      const { clock, made } = resolver(cap, () => ({ addresses: ['192.0.2.1'], ttl }));
      await made.lookup('a.test');
      clock.now = lives * 1000 - 1;
      await made.lookup('a.test');
      expect([ttl, cap, clock.asked]).toEqual([ttl, cap, lives === 0 ? 2 : 1]);
      clock.now = lives * 1000;
      await made.lookup('a.test');
      expect([ttl, cap, clock.asked]).toEqual([ttl, cap, lives === 0 ? 3 : 2]);
    }
  });

  test('keeps "there is none" for a short while', async () => {
    const { clock, made } = resolver(3600, () => ({ rcode: 'NXDOMAIN', ttl: 3600 }));
    for (let i = 0; i < 3; i++) await expect(made.lookup('a.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(clock.asked).toBe(1);
    clock.now = 30_000;
    await expect(made.lookup('a.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(clock.asked).toBe(2);
  });

  test('names that DNS cannot hold are not asked for', async () => {
    const { clock, made } = resolver(60, () => ({ addresses: ['192.0.2.1'] }));
    for (const name of [`${'x'.repeat(64)}.test`, `${'x.'.repeat(127)}test`, 'a..test', ''])
      await expect(made.lookup(name)).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(clock.asked).toBe(0);
  });

  test('asks once for all who wait, and stays bounded', async () => {
    const { clock, made } = resolver(60, () => ({ addresses: ['192.0.2.1'] }));
    await Promise.all(Array.from({ length: 50 }, () => made.lookup('a.test')));
    expect(clock.asked).toBe(1);
    await Promise.all(Array.from({ length: 1100 }, (_, i) => made.lookup(`n${i}.test`)));
    await made.lookup('a.test');
    expect(clock.asked).toBe(1102);
  });
});
