/** DNS messages: the question that is asked, and what of a reply answers it. */
import { isIP } from 'node:net';
import { type Answer, decode, encode, type Packet, RECURSION_DESIRED } from 'dns-packet';

export type AddressType = 'A' | 'AAAA';

export interface Question {
  id: number;
  name: string;
  type: AddressType;
}

export interface DnsReply {
  rcode: string;
  truncated: boolean;
  addresses: string[];
  /** The end of the chain of aliases, when it has no address. */
  alias: string | null;
  /** Seconds: the shortest of what was used, or the zone's own for "there is none". */
  ttl: number;
}

/** Unfragmented on every network (DNS flag day 2020). */
const udpPayloadSize = 1232;
const families: Readonly<Record<AddressType, number>> = { A: 4, AAAA: 6 };
const maxChainLength = 8;
const maxAddresses = 16;

export const writeQuestion = ({ id, name, type }: Question): Buffer =>
  encode({
    type: 'query',
    id,
    flags: RECURSION_DESIRED,
    questions: [{ type, name }],
    additionals: [{ type: 'OPT', name: '.', udpPayloadSize, extendedRcode: 0, ednsVersion: 0, flags: 0, flag_do: false, options: [] }],
  });

const sameName = (a: string, b: string): boolean => a.toLowerCase().replace(/\.$/, '') === b.toLowerCase().replace(/\.$/, '');

/** undefined: not a reply to this question. */
export function readReply(bytes: Buffer, question: Question): DnsReply | undefined {
  const packet = decodeSafely(bytes);
  const [asked, ...more] = packet?.questions ?? [];
  if (packet?.type !== 'response' || packet.id !== question.id || !asked || more.length > 0) return undefined;
  if (asked.type !== question.type || !sameName(asked.name, question.name)) return undefined;
  const { rcode = 'UNKNOWN', flag_tc: truncated = false } = packet as Packet & { rcode?: string; flag_tc?: boolean };
  return { rcode, truncated, ...followAliases(packet.answers ?? [], question), ...negativeTtl(packet) };
}

function decodeSafely(bytes: Buffer): Packet | undefined {
  try {
    return decode(bytes);
  } catch {
    // Bytes that are not a DNS message answer nothing.
    return undefined;
  }
}

/** Addresses at the end of the answer's own chain of CNAMEs; records of other names are not ours. */
function followAliases(answers: readonly Answer[], { name, type }: Question): Pick<DnsReply, 'addresses' | 'alias' | 'ttl'> {
  let ttl = Number.POSITIVE_INFINITY;
  let current = name;
  for (let step = 0; step <= maxChainLength; step++) {
    const addresses: string[] = [];
    for (const answer of answers) {
      if (answer.type !== type || !sameName(answer.name, current) || typeof answer.data !== 'string') continue;
      // A record that was cut short decodes to half an address.
      if (isIP(answer.data) !== families[type]) continue;
      ttl = Math.min(ttl, answer.ttl ?? 0);
      if (addresses.length < maxAddresses) addresses.push(answer.data);
    }
    if (addresses.length > 0) return { addresses, alias: null, ttl };
    const alias = answers.find((answer) => answer.type === 'CNAME' && sameName(answer.name, current));
    if (alias?.type !== 'CNAME') break;
    ttl = Math.min(ttl, alias.ttl ?? 0);
    current = alias.data;
  }
  return { addresses: [], alias: sameName(current, name) ? null : current, ttl };
}

/** How long a negative answer may be cached (RFC 2308): the minimum of the zone's SOA record. */
function negativeTtl(packet: Packet): { ttl?: number } {
  if ((packet.answers ?? []).length > 0) return {};
  const soa = (packet.authorities ?? []).find((one) => one.type === 'SOA');
  return { ttl: soa?.type === 'SOA' ? Math.min(soa.ttl ?? 0, soa.data.minimum ?? 0) : 0 };
}
