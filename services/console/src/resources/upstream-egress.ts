/** How an upstream's calls leave: proxy, DNS servers and TLS settings, checked on save; credentials go in sealed and come out as masks. */
import { isDeepStrictEqual } from 'node:util';
import { type StoredProxy, type StoredTls, sealedAs, type Upstream } from '@model-gateway/contracts';
import type { UpstreamDocument } from '@model-gateway/storage';
import { checkTls, parseDnsServer, parseProxy } from '@model-gateway/upstream-client';
import type { ConsoleContext } from '../context.ts';
import { type Detail, invalid } from '../problem.ts';
import { joinPath } from '../validation/read-input.ts';
import type { ExportSeal } from './export-seal.ts';
import { opens, renewSeal } from './stored-secret.ts';
import { isMasked, upstreamKeyMask } from './upstream-keys.ts';

type Shown = Pick<Upstream, 'proxy' | 'dns' | 'tls'>;
type Stored = Pick<UpstreamDocument, 'proxy' | 'dns' | 'tls'>;

interface Place {
  upstreamId: string;
  existing: Stored | undefined;
  context: ConsoleContext;
  prefix: string;
}

const withUserInfo = (url: string, userInfo: string): string => url.replace('://', () => `://${userInfo}@`);

/** As it is shown, and as an admin would send it: a mask means "as stored". */
export const showEgress = ({ proxy, dns, tls }: Stored): Shown => ({
  proxy: proxy ? showProxy(proxy) : null,
  dns: dns ?? null,
  tls: tls ? showTls(tls) : null,
});

const showProxy = ({ url, sealed }: StoredProxy): string => (sealed === null ? url : withUserInfo(url, upstreamKeyMask));

const showTls = ({ sealed_key, ...tls }: StoredTls): NonNullable<Upstream['tls']> => ({ ...tls, client_key: sealed_key === null ? null : upstreamKeyMask });

/** Faults that need no stored value. */
export function checkEgress({ proxy, dns }: Upstream, { outbound: { policy } }: ConsoleContext): Detail[] {
  const faults: Detail[] = [];
  if (proxy) {
    const parsed = parseProxy(proxy, policy);
    if ('fault' in parsed) faults.push({ field: 'proxy', message: parsed.fault });
  }
  if (dns?.servers.length === 0 && dns.ttl_secs !== null) faults.push({ field: 'dns.servers', message: 'is required with ttl_secs' });
  for (const [index, text] of (dns?.servers ?? []).entries()) {
    const server = parseDnsServer(text, policy);
    if (typeof server === 'string') faults.push({ field: `dns.servers.${index}`, message: server });
  }
  return faults;
}

/** What is stored; empty settings are none. Throws a 422: a mask where nothing is stored, a key that does not fit its certificate. */
export function sealEgress({ proxy, dns, tls }: Shown, place: Place): Stored {
  return {
    ...(proxy && { proxy: sealProxy(proxy, place) }),
    ...(dns && dns.servers.length > 0 && { dns }),
    ...(tls && Object.values(tls).some((value) => value !== null) && { tls: sealTls(tls, place) }),
  };
}

function sealProxy(text: string, { upstreamId, existing, context, prefix }: Place): StoredProxy {
  // As it was shown: it was checked when it was stored, perhaps by laxer rules.
  if (existing?.proxy && showProxy(existing.proxy) === text) return renewProxy(existing.proxy, { upstreamId, context });
  const parsed = parseProxy(text, context.outbound.policy);
  const refuse = (message: string) => invalid([{ field: joinPath(prefix, 'proxy'), message }]);
  if ('fault' in parsed) throw refuse(parsed.fault);
  const { url, userInfo } = parsed;
  const boundTo = sealedAs.upstreamProxy(upstreamId);
  if (userInfo === null) return { url, sealed: null };
  const stored = existing?.proxy?.url === url ? existing.proxy : null;
  // A mask is kept for the very proxy it was given to: credentials do not follow to another host.
  if (isMasked(userInfo)) {
    if (!stored?.sealed) throw refuse('is a mask: send the user name and password');
    return renewProxy(stored, { upstreamId, context });
  }
  if (stored?.sealed && opens(context, stored.sealed, boundTo) === userInfo) return renewProxy(stored, { upstreamId, context });
  return { url, sealed: context.keyring.seal(userInfo, boundTo) };
}

const renewProxy = ({ url, sealed }: StoredProxy, { upstreamId, context }: Pick<Place, 'upstreamId' | 'context'>): StoredProxy => ({
  url,
  sealed: sealed === null ? null : renewSeal(context, sealed, sealedAs.upstreamProxy(upstreamId)),
});

function sealTls(sent: NonNullable<Upstream['tls']>, { upstreamId, existing, context, prefix }: Place): StoredTls {
  const boundTo = sealedAs.upstreamClientKey(upstreamId);
  // What is as it was shown was checked when it was stored: a key that does not open any more hinders no other change.
  if (existing?.tls?.sealed_key && isDeepStrictEqual(showTls(existing.tls), sent))
    return { ...existing.tls, sealed_key: renewSeal(context, existing.tls.sealed_key, boundTo) };
  const { client_key, ...tls } = sent;
  const stored = existing?.tls?.sealed_key ?? null;
  const storedKey = stored === null ? null : opens(context, stored, boundTo);
  // Without a certificate there is nothing for a key that was left out to belong to.
  const keeps = stored !== null && tls.client_cert !== null && (isMasked(client_key ?? undefined) || client_key === storedKey);
  const faults =
    !keeps && client_key !== null && isMasked(client_key)
      ? [{ field: 'client_key', message: tls.client_cert === null ? 'is a mask without a client_cert' : 'is a mask: send the key' }]
      : checkTls({ ...tls, client_key: keeps ? storedKey : client_key });
  if (faults.length > 0) throw invalid(faults.map(({ field, message }) => ({ field: joinPath(prefix, 'tls', field), message })));
  if (keeps) return { ...tls, sealed_key: renewSeal(context, stored, boundTo) };
  return { ...tls, sealed_key: client_key === null ? null : context.keyring.seal(client_key, boundTo) };
}

/** As it is exported: what holds a credential sealed for export, whole. */
export function exportEgress({ proxy, dns, tls }: Stored, upstreamId: string, { reseal }: ExportSeal): Record<string, unknown> {
  const out: Record<string, unknown> = { proxy: null, dns: dns ?? null, tls: null };
  if (proxy) {
    const { url, sealed } = proxy;
    out['proxy'] = sealed === null ? url : reseal(sealed, sealedAs.upstreamProxy(upstreamId), (userInfo) => withUserInfo(url, userInfo));
  }
  if (tls) {
    const { sealed_key, ...shown } = tls;
    const key = sealed_key === null ? null : reseal(sealed_key, sealedAs.upstreamClientKey(upstreamId));
    out['tls'] = { ...shown, client_key: key };
  }
  return out;
}
