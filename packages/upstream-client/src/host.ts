/** Which hosts may be called, judged by their spelling alone: what can be refused before anything is resolved. */
import { isIP } from 'node:net';
import { type AddressPolicy, isAddressAllowed } from './address.ts';

/** Names under which clouds serve their metadata; they resolve to link-local addresses, but a proxy that resolves for us would not look. */
const metadataHosts = new Set([
  'metadata.google.internal',
  'metadata.goog',
  'metadata',
  'instance-data',
  'instance-data.ec2.internal',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
]);

/** A host as URLs spell it → bare, lower case, without brackets and the root's dot, however often it is written. */
export const bareHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.+$/, '');

const isLocalName = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost');

/** `host` is bare. Names are taken; what they resolve to is judged when it is dialled. */
export function isHostAllowed(host: string, policy: AddressPolicy): boolean {
  if (isIP(host) !== 0) return isAddressAllowed(host, policy);
  return !metadataHosts.has(host) && (policy.allowPrivate || !isLocalName(host));
}
