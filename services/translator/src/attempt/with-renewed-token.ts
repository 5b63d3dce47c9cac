/** The single repetition when an upstream refuses the token of a login: once more with a renewed one, on the same node. */
import { isInUpstreamTerms, type Operation } from '@model-gateway/contracts';
import type { UpstreamFault } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import type { Logger } from '@model-gateway/telemetry';
import type { Rejected } from '../access-tokens.ts';
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

/** Whose call it is. */
interface Caller {
  /** Name of the access key. */
  readonly accessKey: string;
  readonly operation: Operation;
}

/** A call to the upstream of a route, whose credential may be the token of a login. */
export interface RenewableCall<End extends CallEnd> {
  readonly route: Route;
  readonly deps: { readonly secrets: SecretDeps; readonly logger: Logger };
  /** Absent: nothing in it is of a caller's choosing. */
  readonly caller?: Caller;
  /** What the log names the call by. */
  readonly subject: Readonly<Record<string, string>>;
  /** Makes the call, with the token that is known by then. */
  send(): Promise<End>;
  /** Makes it again; null: it cannot be made now. Absent: as `send`. */
  sendAgain?(): Promise<End | null>;
  /** Usually `mayRenew`. */
  isRefused(end: End): boolean;
  /** It is not made again: the refusal stands. */
  refusalStands?(refusal: End): void;
}

/**
 * Makes a call; where the upstream refuses the token of a login, once more with a renewed one. The console renews at most once a minute; a token that was
 * just renewed and is refused all the same ends the credential until somebody logs in, unless the refusal may be about what the caller asked for.
 */
export async function withRenewedToken<End extends CallEnd>(call: RenewableCall<End>): Promise<End> {
  const { route, subject, deps } = call;
  const { sso_credential: credential, name: upstream } = route.upstream;
  if (!credential) return call.send();
  const used = await usedToken(route, deps.secrets);
  const first = await call.send();
  if (used !== undefined) noteAccepted(credential, used, first, deps.secrets);
  if (!call.isRefused(first)) return first;
  const renewed = used === undefined ? undefined : await renew(credential, { id: used, caller: suspect(call, first) }, deps.secrets);
  if (renewed !== undefined) deps.logger.info({ ...subject, upstream }, 'the upstream refused a token: asked again with a renewed one');
  const second = renewed === undefined ? null : await (call.sendAgain ?? call.send)();
  if (second === null) {
    call.refusalStands?.(first);
    return first;
  }
  if (renewed === undefined) return second;
  noteAccepted(credential, renewed, second, deps.secrets);
  if (call.isRefused(second)) void renew(credential, { id: renewed, caller: suspect(call, second) }, deps.secrets);
  return second;
}

/**
 * Whose request may be what was refused instead of the token: any whose path they choose, any count, as a vendor may not let logins count at all, and a
 * 403 may be about something that they name.
 */
const suspect = ({ caller }: Pick<RenewableCall<CallEnd>, 'caller'>, { status }: CallEnd): string | undefined =>
  caller && (status !== 401 || caller.operation === 'count-tokens' || isInUpstreamTerms(caller.operation)) ? caller.accessKey : undefined;

function noteAccepted(credential: string, tokenId: string, { fault, status }: CallEnd, { tokens }: SecretDeps): void {
  if (fault === null && status !== null) tokens.accepted(credential, tokenId);
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
async function renew(credential: string, refused: Rejected, { tokens }: SecretDeps): Promise<string | undefined> {
  try {
    const { token_id: renewed } = await tokens.get(credential, refused);
    return renewed === refused.id ? undefined : renewed;
  } catch {
    return undefined;
  }
}
