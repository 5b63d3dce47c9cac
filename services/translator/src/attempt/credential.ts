/** The credential of one call: a key that is opened, or the access token of a login with what belongs to it. */
import type { UpstreamAdapter } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import type { SecretDeps } from './deps.ts';

type Headers = Record<string, string>;

/** A promise where the upstream's token has to be asked for first; undefined where the credential is at hand, or there is none. Throws NoAccessError. */
export function awaitCredential({ upstream }: Route, { tokens }: SecretDeps): Promise<unknown> | undefined {
  if (!upstream.sso_credential) return undefined;
  const access = tokens.get(upstream.sso_credential);
  return access instanceof Promise ? access : undefined;
}

/** Its headers, laid over `headers`; empty where the route has none. Call `awaitCredential` first. */
export function credentialHeaders(route: Route, adapter: UpstreamAdapter, headers: Readonly<Headers>, secrets: SecretDeps): Headers {
  if (!route.key) return {};
  const key = secrets.openKey(route.upstream, route.key);
  return withLoginHeaders(route, carrierOf(route, { adapter, key, headers, secrets }), headers, secrets);
}

interface Carried {
  adapter: UpstreamAdapter;
  key: string;
  headers: Readonly<Headers>;
  secrets: SecretDeps;
}

/** The header that the key goes in: that of the protocol, unless the vendor gave out a bearer. */
export function carrierOf({ upstream, target }: Route, { adapter, key, headers, secrets }: Carried): Headers {
  const isBearer = upstream.sso_credential !== undefined && secrets.tokens.known(upstream.sso_credential ?? '')?.bearer;
  return isBearer ? { authorization: `Bearer ${key}` } : adapter.credential(key, target, headers);
}

/** Lists of flags to which a credential adds its own. */
const listHeaders: ReadonlySet<string> = new Set(['anthropic-beta', 'beta-beta']);

/** What goes with the token of a login: flags that the upstream expects with it, the account that pays. */
export function withLoginHeaders({ upstream }: Route, credential: Headers, sent: Readonly<Headers>, { tokens }: SecretDeps): Headers {
  const own = upstream.sso_credential ? tokens.known(upstream.sso_credential)?.headers : undefined;
  if (!own) return credential;
  const result = { ...credential };
  for (const [name, value] of Object.entries(own)) {
    const before = result[name] ?? sent[name];
    result[name] = before !== undefined && listHeaders.has(name) ? joinLists(before, value) : value;
  }
  return result;
}

function joinLists(...lists: readonly string[]): string {
  const entries = lists.flatMap((list) => list.split(',').map((entry) => entry.trim()));
  return [...new Set(entries.filter((entry) => entry !== ''))].join(',');
}
