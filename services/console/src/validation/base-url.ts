/** Refuses addresses that no upstream lives at, before the first call finds out. The dialer checks again what names resolve to. */
import { isIP } from 'node:net';
import { isAddressAllowed } from '@model-gateway/outbound';
import type { Detail } from '../problem.ts';

const metadataHosts = new Set(['metadata.google.internal', 'metadata.goog', 'metadata', 'instance-data', 'instance-data.ec2.internal']);

export function checkBaseUrl(field: string, url: string | null): Detail[] {
  if (url === null) return [];
  let host: string;
  try {
    // WHATWG parsing turns every spelling of an address (decimal, octal, hexadecimal, mapped) into one.
    host = new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  } catch {
    return [{ field, message: 'is not a valid URL' }];
  }
  const refused = metadataHosts.has(host.toLowerCase()) || (isIP(host) !== 0 && !isAddressAllowed(host, { allowPrivate: true }));
  return refused ? [{ field, message: 'is a link-local, cloud-metadata or unroutable address: the gateway never calls those' }] : [];
}
