/** Refuses addresses that no upstream lives at, before the first call finds out. The dialer checks again what names resolve to. */
import { type AddressPolicy, bareHost, isHostAllowed } from '@model-gateway/upstream-client';
import type { Detail } from '../problem.ts';

/** Names under which services take a credential in a query: there it would be shown to everybody who may read the address. */
export const credentialName = /key|token|secret|passw|credential|^sig(?:nature)?$|^code$/i;

/** A query belongs to a whole endpoint alone: paths are appended to any other address. */
export function checkQuery(field: string, url: string | null, isWhole: boolean): Detail[] {
  const at = url?.indexOf('?') ?? -1;
  if (url === null || at < 0) return [];
  if (!isWhole) return [{ field, message: 'has a query, which only a whole endpoint may have: set direct_path' }];
  const names = [...new URLSearchParams(url.slice(at + 1)).keys()];
  return names.some((name) => credentialName.test(name))
    ? [{ field, message: 'has a credential in its query: enter it as a key of the upstream, or as a custom header' }]
    : [];
}

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
