/** Which addresses a call may reach: link-local, metadata and unroutable ones never, private ones by policy. */
import { isIPv4, isIPv6 } from 'node:net';

export interface AddressPolicy {
  /** Loopback, private and shared ranges: self-hosted models live there. */
  allowPrivate: boolean;
}

type Verdict = 'public' | 'private' | 'never';
type Range = readonly [address: string, bits: number, verdict: Exclude<Verdict, 'public'>];

/** The narrowest range that holds an address decides, so the order does not matter. */
const ranges4: readonly Range[] = [
  ['0.0.0.0', 8, 'never'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'private'],
  // Alibaba Cloud's metadata service stands inside the shared range.
  ['100.100.100.200', 32, 'never'],
  ['127.0.0.0', 8, 'private'],
  // Link-local: the metadata services of AWS, GCP, Azure, and container credentials.
  ['169.254.0.0', 16, 'never'],
  // Azure's host agent (WireServer).
  ['168.63.129.16', 32, 'never'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'private'],
  // Oracle Cloud's metadata service.
  ['192.0.0.192', 32, 'never'],
  ['192.0.2.0', 24, 'private'],
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'private'],
  ['198.51.100.0', 24, 'private'],
  ['203.0.113.0', 24, 'private'],
  ['224.0.0.0', 4, 'never'],
  ['240.0.0.0', 4, 'never'],
];
const ranges6: readonly Range[] = [
  ['::', 128, 'never'],
  ['::1', 128, 'private'],
  ['100::', 64, 'never'],
  ['2001:db8::', 32, 'private'],
  ['fc00::', 7, 'private'],
  // Metadata services over IPv6 stand inside the unique-local range: of AWS (and of its pods), GCP, Oracle, Scaleway, Akamai and Alibaba.
  ['fd00:ec2::254', 128, 'never'],
  ['fd00:ec2::23', 128, 'never'],
  ['fd20:ce::254', 128, 'never'],
  ['fd00:c1::a9fe:a9fe', 128, 'never'],
  ['fd00:42::42', 128, 'never'],
  ['fd00:a9fe:a9fe::1', 128, 'never'],
  ['fd00:100::100:200', 128, 'never'],
  ['fe80::', 10, 'never'],
  ['fec0::', 10, 'private'],
  ['ff00::', 8, 'never'],
];
const last4 = [12, 13, 14, 15];
/**
 * Prefixes with an IPv4 address behind them, and at which bytes: the inner address is judged too. Below the prefix for local use a translator may have a
 * prefix of 48, 56, 64 or 96 bits, and reads the address elsewhere for each (RFC 6052; byte 8 is skipped).
 */
const embeddings: readonly (readonly [prefix: string, bits: number, ...places: (readonly number[])[]])[] = [
  ['::', 96, last4],
  ['::ffff:0:0', 96, last4],
  ['::ffff:0:0:0', 96, last4],
  ['64:ff9b::', 96, last4],
  ['64:ff9b:1::', 48, last4, [6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12]],
  ['2002::', 16, [2, 3, 4, 5]],
];

const bytes4 = (text: string): number[] => text.split('.').map(Number);

/** 16 bytes of a valid IPv6 text, dotted tail and zone allowed. */
function bytes6(text: string): number[] {
  const bare = text.split('%', 1)[0] as string;
  const dotted = bare.lastIndexOf('.') >= 0 ? bytes4(bare.slice(bare.lastIndexOf(':') + 1)) : [];
  const words =
    dotted.length === 4
      ? bare.slice(0, bare.lastIndexOf(':') + 1) +
        (((dotted[0] as number) << 8) | (dotted[1] as number)).toString(16) +
        ':' +
        (((dotted[2] as number) << 8) | (dotted[3] as number)).toString(16)
      : bare;
  const [left = '', right] = words.split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === undefined || right === '' ? [] : right.split(':');
  const groups = right === undefined ? head : [...head, ...new Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  return groups.flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
}

function matches(bytes: readonly number[], range: readonly number[], bits: number): boolean {
  const whole = bits >> 3;
  for (let i = 0; i < whole; i++) if (bytes[i] !== range[i]) return false;
  const rest = bits & 7;
  return rest === 0 || ((bytes[whole] as number) ^ (range[whole] as number)) >> (8 - rest) === 0;
}

const compile = (ranges: readonly Range[], toBytes: (text: string) => number[]) =>
  ranges.map(([address, bits, verdict]) => ({ bytes: toBytes(address), bits, verdict })).sort((a, b) => b.bits - a.bits);
const compiled4 = compile(ranges4, bytes4);
const compiled6 = compile(ranges6, bytes6);
const compiledEmbeddings = embeddings.map(([prefix, bits, ...places]) => ({ bytes: bytes6(prefix), bits, places }));

const judge4 = (bytes: readonly number[]): Verdict => compiled4.find((range) => matches(bytes, range.bytes, range.bits))?.verdict ?? 'public';

function judge6(bytes: readonly number[]): Verdict {
  const own = compiled6.find((range) => matches(bytes, range.bytes, range.bits))?.verdict;
  if (own !== undefined) return own;
  // Teredo hides the client's IPv4 address inverted in the last bytes; nobody serves models there.
  if (matches(bytes, bytes6('2001::'), 32)) return 'never';
  const embedding = compiledEmbeddings.find((one) => matches(bytes, one.bytes, one.bits));
  if (embedding === undefined) return 'public';
  const [first = [], ...others] = embedding.places.map((place) => place.map((at) => bytes[at] as number));
  // An address that begins with zero is not an address: that place is not the one.
  const verdicts = [judge4(first), ...others.filter(([leading]) => leading !== 0).map(judge4)];
  return verdicts.includes('never') ? 'never' : verdicts.includes('private') ? 'private' : 'public';
}

/** Whether `address` (an IPv4 or IPv6 text, zone allowed) may be connected to. What is not an address is refused. */
export function isAddressAllowed(address: string, policy: AddressPolicy): boolean {
  const bare = address.split('%', 1)[0] as string;
  const verdict = isIPv4(bare) ? judge4(bytes4(bare)) : isIPv6(bare) ? judge6(bytes6(bare)) : 'never';
  return verdict === 'public' || (verdict === 'private' && policy.allowPrivate);
}
