/** The single repetition when an upstream refuses the token of a login: once more with a renewed one, on the same node. */
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import type { AttemptContext } from './attempt-context.ts';
import { awaitCredential } from './credential.ts';
import type { SecretDeps } from './deps.ts';
import type { AttemptEnd } from './result.ts';

/** A refusal that a newer token may end. What it says of the upstream's health is not known until then. */
export const mayRenew = ({ upstream }: AttemptContext['route'], { fault, committed, status }: AttemptEnd): boolean =>
  Boolean(upstream.sso_credential) && fault?.class === 'credential' && !committed && (status === 401 || status === 403);

/** Id of the token that the next call is made with; undefined: there is none, which the call finds out. */
export async function usedToken(route: AttemptContext['route'], secrets: SecretDeps): Promise<string | undefined> {
  try {
    await awaitCredential(route, secrets);
  } catch {
    return undefined;
  }
  return secrets.tokens.known(route.upstream.sso_credential ?? '')?.token_id;
}

/**
 * The request to send again, with the token renewed; null when this end was about something else, or there is no other token. The console renews at most
 * once a minute; a token that was just renewed and is refused all the same ends the credential until somebody logs in.
 */
export async function withRenewedToken(
  attempt: AttemptContext,
  sent: UpstreamRequest,
  end: AttemptEnd,
  used: string | undefined,
): Promise<UpstreamRequest | null> {
  const { upstream } = attempt.route;
  if (!upstream.sso_credential || used === undefined || !mayRenew(attempt.route, end)) return null;
  const { tokens } = attempt.deps.send.secrets;
  try {
    const { token_id: renewed } = await tokens.get(upstream.sso_credential, used);
    if (renewed === used) return null;
  } catch {
    // It gives none any more: the refusal stands.
    return null;
  }
  attempt.deps.send.logger.info({ request: attempt.request.job.id, upstream: upstream.name }, 'the upstream refused a token: asked again with a renewed one');
  attempt.record.meter.reset();
  return sent;
}

/** Reports to the console that a renewed token was refused, too. Not waited for. */
export function reportRejected({ route, deps }: AttemptContext, used: string | undefined): void {
  const { sso_credential: credential } = route.upstream;
  if (!credential || used === undefined) return;
  try {
    Promise.resolve(deps.send.secrets.tokens.get(credential, used)).catch(() => undefined);
  } catch {
    // Known already.
  }
}
