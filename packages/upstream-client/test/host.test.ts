/** The table of hostile hosts, as admins may write them: judged on save by their spelling, and refused again when dialled. */
import { describe, expect, test } from '@jest/globals';
import { parseDnsServer } from '../src/dns/parse-server.ts';
import { parseProxy } from '../src/egress/parse-proxy.ts';
import { bareHost, isHostAllowed } from '../src/host.ts';
import { open, send } from './calls.ts';

/** Never, whatever the policy. */
const never = [
  '169.254.169.254',
  '169.254.170.2',
  '2852039166',
  '0xa9fea9fe',
  '0xA9.0xFE.0xA9.0xFE',
  '0251.0376.0251.0376',
  '169.254.43518',
  '169.16689662',
  '１６９.254.169.254',
  '169。254。169。254',
  '%31%36%39.254.169.254',
  '169.254.169.254.',
  '0.0.0.0',
  '0',
  '0x0',
  '[::]',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '[::169.254.169.254]',
  '[0:0:0:0:0:ffff:a9fe:a9fe]',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:a9fe:a9fe::]',
  '[fe80::1]',
  '[febf::1]',
  '[fd00:ec2::254]',
  '[FD00:0EC2:0:0:0:0:0:254]',
  '[fd20:ce::254]',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '255.255.255.255',
  '224.0.0.1',
  '[ff02::1]',
  'metadata.google.internal',
  'METADATA.google.internal.',
  // A proxy would be asked for the name with one dot less.
  'metadata.google.internal..',
  'metadata.tencentyun.com',
  'metadata',
  'instance-data.ec2.internal',
  'ｍetadata.google.internal',
];
/** Refused by `OUTBOUND_PRIVATE=deny` alone. */
const inside = [
  '127.0.0.1',
  '127.1',
  '0x7f000001',
  '017700000001',
  '2130706433',
  '１２７.0.0.1',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '10.1.2.3',
  '172.31.0.1',
  '192.168.0.1',
  '100.64.0.1',
  '[fc00::1]',
  '[fd12::1]',
  'localhost',
  'LocalHost.',
  'localhost..',
  'a.localhost',
];
const outside = ['8.8.8.8', '[2606:4700::1111]', 'api.example.com', 'xn--pple-43d.com', '169.253.255.255', '172.32.0.1', '128.0.0.1'];

const judge = (host: string, allowPrivate: boolean): boolean => isHostAllowed(bareHost(new URL(`http://${host}`).hostname), { allowPrivate });

describe('hosts', () => {
  test.each(never)('%s is never called', async (host) => {
    expect([judge(host, true), judge(host, false)]).toEqual([false, false]);
    expect(parseProxy(`socks5://${host}:1080`, { allowPrivate: true })).toEqual({ fault: 'is at an address that the gateway never calls' });
    expect(parseDnsServer(`tls://${host}`, { allowPrivate: true })).toBe('is at an address that the gateway never calls');
    const outbound = open();
    expect(await send(outbound, { url: `http://${host}/` }).done).toMatchObject({ class: 'refused-address' });
    await outbound.close(0);
  });
  test.each(inside)('%s is called where private addresses are', async (host) => {
    expect([judge(host, true), judge(host, false)]).toEqual([true, false]);
    const outbound = open({ allowPrivate: false });
    expect(await send(outbound, { url: `http://${host}:1/` }).done).toMatchObject({ class: 'refused-address' });
    await outbound.close(0);
  });
  test.each(outside)('%s is called', (host) => expect([judge(host, true), judge(host, false)]).toEqual([true, true]));

  test.each([
    'http://[fe80::1%25eth0]/',
    'http://[fe80::1%eth0]/',
    'http://me:pass@h/',
    'http://me@169.254.169.254/',
    'ftp://h/',
    'http://256.256.256.256/',
    'http://0x100000000/',
  ])('%s is no address', async (url) => {
    const outbound = open();
    expect(await send(outbound, { url }).done).toMatchObject({ class: 'protocol' });
    await outbound.close(0);
  });
});

describe('proxy addresses', () => {
  const parse = (text: string) => parseProxy(text, { allowPrivate: true });
  test.each([
    ['http://p', 'http://p:80'],
    ['http://p:80', 'http://p:80'],
    ['https://P.Example./', 'https://p.example.:443'],
    ['https://p:443', 'https://p:443'],
    ['socks5://[::1]:9050', 'socks5://[::1]:9050'],
    ['SOCKS4a://0x7f.1:1', 'socks4a://127.0.0.1:1'],
    ['socks5h://u:p@h', 'socks5h://h:1080'],
    ['socks5://h:443', 'socks5://h:443'],
    ['socks5://h:80', 'socks5://h:80'],
    ['http://a:b@c@h:1', 'http://h:1'],
  ])('%s is %s', (text, url) => expect(parse(text)).toMatchObject({ url }));

  test.each([
    '',
    'h:1080',
    'socks://h:1',
    'ftp://h',
    'http://h:0',
    'http://h:99999',
    'http://h/path',
    'http://h?x',
    'http://h#x',
    'http://a b',
    'http://:pass@h',
    'http://%zz:p@h',
    'http://a%0d%0ab@h',
    'socks4://a:b@h',
    `socks5://${'a'.repeat(256)}@h`,
    'http://a%3Ab:c@h',
    'http://h\\x',
  ])('%j is refused without repeating it', (text) => expect(parse(text)).toEqual({ fault: expect.not.stringContaining(text === '' ? '\u0000' : text) }));
});

describe('DNS server addresses', () => {
  const parse = (text: string) => parseDnsServer(text, { allowPrivate: true });
  test.each([
    ['1.1.1.1', ['plain', '1.1.1.1', 53, '']],
    ['1.1.1.1:5353', ['plain', '1.1.1.1', 5353, '']],
    ['2606:4700::1111', ['plain', '2606:4700::1111', 53, '']],
    ['[2606:4700::1111]:80', ['plain', '2606:4700::1111', 80, '']],
    ['udp://ns.example', ['udp', 'ns.example', 53, '']],
    ['TLS://ns.example', ['tls', 'ns.example', 853, '']],
    ['tls://1.1.1.1:443', ['tls', '1.1.1.1', 443, '']],
    ['https://dns.example', ['https', 'dns.example', 443, '/dns-query']],
    ['https://dns.example:8443/q', ['https', 'dns.example', 8443, '/q']],
  ])('%s', (text, [scheme, host, port, path]) => expect(parse(text)).toEqual({ scheme, host, port, path }));

  test.each([
    '',
    'tcp://1.1.1.1',
    'plain://1.1.1.1',
    'http://1.1.1.1',
    'udp://1.1.1.1/x',
    'https://me:pass@h/',
    'https://h/?x',
    '1.1.1.1:0',
    '1.1.1.1:70000',
    'a b',
    '1.2.3.256',
  ])('%j is refused', (text) => expect(typeof parse(text)).toBe('string'));
});
