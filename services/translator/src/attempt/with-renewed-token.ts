/** The single repetition when an upstream refuses the token of a login: once more with a renewed one, on the same node. */
import type { UpstreamFault } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import type { Logger } from '@model-gateway/telemetry';
import { awaitCredential } from './credential.ts';
import type { SecretDeps } from './deps.ts';

/** What tells a refused token from other ends of a call. */
interface CallEnd {
  /** null: none, so far. */
  readonly fault: UpstreamFault | null;
  readonly status: number | null;
}

/** A refusal that a newer token may end. What it says of the upstream's health is not known until then. */
export const mayRenew = ({ upstream }: Route, { fault, status }: CallEnd): boolean =>
  Boolean(upstream.sso_credential) && fault?.class === 'credential' && (status === 401 || status === 403);

/** A call to the upstream of a route, whose credential may be the token of a login. */
export interface RenewableCall<End> {
  readonly route: Route;
  readonly deps: { readonly secrets: SecretDeps; readonly logger: Logger };
  /** What the log names the call by. */
  readonly subject: Readonly<Record<string, string>>;
  /** Makes the call, with the token that is known by then. */
  send(): Promise<End>;
  /** Makes it again; null: it cannot be made now. Absent: as `send`. */
  sendAgain?(): Promise<End | null>;
  /** Usually `mayRenew`. */
  isRefused(end: End): boolean;
  /** It is not made again: the refusal stands. */
  refusalStands?(): void;
}

/**
 * Makes a call; where the upstream refuses the token of a login, once more with a renewed one. The console renews at most once a minute; a token that was
 * just renewed and is refused all the same ends the credential until somebody logs in.
 */
export async function withRenewedToken<End>(call: RenewableCall<End>): Promise<End> {
  const { route, subject, deps } = call;
  const { sso_credential: credential, name: upstream } = route.upstream;
  if (!credential) return call.send();
  const used = await usedToken(route, deps.secrets);
  const first = await call.send();
  if (!call.isRefused(first)) return first;
  const renewed = used === undefined ? undefined : await renew(credential, used, deps.secrets);
  if (renewed !== undefined) deps.logger.info({ ...subject, upstream }, 'the upstream refused a token: asked again with a renewed one');
  const second = renewed === undefined ? null : await (call.sendAgain ?? call.send)();
  if (second === null) {
    call.refusalStands?.();
    return first;
  }
  if (renewed !== undefined && call.isRefused(second)) void renew(credential, renewed, deps.secrets);
  return second;
}

/** Id of the token that the next call is made with; undefined: there is none, which the call finds out. */
async function usedToken(route: Route, secrets: SecretDeps): Promise<string | undefined> {
  try {
    await awaitCredential(route, secrets);
  } catch {
    return undefined;
  }
  return secrets.tokens.known(route.upstream.sso_credential ?? '')?.token_id;
}

/** Reports to the console that a token is refused. Resolves with the id of another one; undefined: it gives none. */
async function renew(credential: string, refused: string, { tokens }: SecretDeps): Promise<string | undefined> {
  try {
    const { token_id: renewed } = await tokens.get(credential, refused);
    return renewed === refused ? undefined : renewed;
  } catch {
    return undefined;
  }
}
