/** Refuses addresses that no upstream lives at, before the first call finds out. The dialer checks again what names resolve to. */
import { type AddressPolicy, bareHost, isHostAllowed } from '@model-gateway/outbound';
import type { Detail } from '../problem.ts';

export function checkBaseUrl(field: string, url: string | null, policy: AddressPolicy): Detail[] {
  if (url === null) return [];
  // WHATWG parsing turns every spelling of an address (decimal, octal, hexadecimal, mapped, full-width) into one.
  const parsed = URL.parse(url);
  if (parsed === null) return [{ field, message: 'is not a valid URL' }];
  const host = bareHost(parsed.hostname);
  if (isHostAllowed(host, policy)) return [];
  return [
    {
      field,
      message: isHostAllowed(host, { allowPrivate: true })
        ? 'is a loopback or private address, which OUTBOUND_PRIVATE=deny refuses'
        : 'is a link-local, cloud-metadata or unroutable address: the gateway never calls those',
    },
  ];
}
