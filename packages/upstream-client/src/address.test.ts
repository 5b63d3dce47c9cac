import { describe, expect, test } from '@jest/globals';
import { isAddressAllowed } from './address.ts';
import { guardedLookup } from './lookup.ts';

const allow = { allowPrivate: true };
const deny = { allowPrivate: false };

const never = [
  '0.0.0.0',
  '0.1.2.3',
  '169.254.169.254',
  '169.254.170.2',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  '224.0.0.1',
  '255.255.255.255',
  '240.0.0.1',
  '::',
  'fe80::1',
  'fe80::1%eth0',
  'febf::1',
  'fd00:ec2::254',
  'fd00:0ec2:0:0:0:0:0:254',
  'fd20:ce::254',
  'fd00:c1::a9fe:a9fe',
  'fd00:42::42',
  'fd00:a9fe:a9fe::1',
  'fd00:100::100:200',
  'ff02::1',
  '100::1',
  '2001::1',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '::169.254.169.254',
  '::ffff:0:169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b::169.254.169.254',
  '64:ff9b:1::a9fe:a9fe',
  // Link-local addresses behind prefixes of 48, 56 and 64 bits, with a public address where one of 96 bits has it.
  '64:ff9b:1:a9fe:a9:fe00:808:808',
  '64:ff9b:1:1a9:fe:a9fe:808:808',
  '64:ff9b:1:1:a9:feaa:208:808',
  '2002:a9fe:a9fe::1',
  '::ffff:0.0.0.0',
  '::ffff:100.100.100.200',
  '',
  'localhost',
  '1.2.3',
  '0x7f.0.0.1',
  '127.1',
  '2130706433',
  '::ffff:1.2.3.4.5',
  '1:2:3',
];
const privateOnes = [
  '127.0.0.1',
  '127.255.255.254',
  '10.1.2.3',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '198.18.0.1',
  '192.0.2.1',
  '::1',
  'fc00::1',
  'fd12:3456::1',
  'fec0::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '64:ff9b::10.0.0.1',
  '64:ff9b:1:a00:0:100:808:808',
  '2002:7f00:1::',
  '::127.0.0.1',
];
const publicOnes = [
  '1.1.1.1',
  '8.8.8.8',
  '172.32.0.1',
  '172.15.255.255',
  '11.0.0.1',
  '100.128.0.1',
  '169.253.1.1',
  '169.255.1.1',
  '2606:4700::1111',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::8.8.8.8',
  '2002:808:808::1',
  'fe00::1',
];

describe('isAddressAllowed', () => {
  test.each(never)('%s never', (address) => {
    expect(isAddressAllowed(address, allow)).toBe(false);
  });
  test.each(privateOnes)('%s by policy', (address) => {
    expect([isAddressAllowed(address, allow), isAddressAllowed(address, deny)]).toEqual([true, false]);
  });
  test.each(publicOnes)('%s always', (address) => {
    expect([isAddressAllowed(address, allow), isAddressAllowed(address, deny)]).toEqual([true, true]);
  });

  test('the URL parser turns other spellings of an address into the one that is judged', () => {
    for (const spelling of ['2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518', '[::ffff:169.254.169.254]', '１６９.254.169.254']) {
      const host = new URL(`http://${spelling}/`).hostname.replace(/^\[|\]$/g, '');
      expect(isAddressAllowed(host, allow)).toBe(false);
    }
  });
});

describe('guardedLookup', () => {
  const resolveTo =
    (...addresses: string[]) =>
    (_host: string, _options: unknown, callback: (error: null, all: { address: string; family: number }[]) => void) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );

  test('hands on only allowed addresses', () => {
    const seen: unknown[] = [];
    guardedLookup(deny, resolveTo('10.0.0.1', '8.8.8.8', 'fe80::1'))('h', { all: true }, (error, all) => seen.push(error, all));
    expect(seen).toEqual([null, [{ address: '8.8.8.8', family: 4 }]]);
    const one: unknown[] = [];
    guardedLookup(deny, resolveTo('10.0.0.1', '8.8.8.8'))('h', {}, (error, address, family) => one.push(error, address, family));
    expect(one).toEqual([null, '8.8.8.8', 4]);
  });

  test('refuses a name whose addresses are all refused', () => {
    let fault: unknown;
    guardedLookup(allow, resolveTo('169.254.169.254', '::ffff:169.254.169.254'))('metadata', { all: true }, (error) => {
      fault = error;
    });
    expect(fault).toMatchObject({ kind: 'refused-address', phase: 'dns' });
  });
});
