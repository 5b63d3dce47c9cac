/**
 * Why a sign-in at an OpenID provider failed, in words that say where to look. The library's errors hold replies of the provider: only codes, statuses and
 * addresses go on.
 */
import * as client from 'openid-client';
import { OidcRefusal } from './oidc-identity.ts';

/** How long the provider may take for an answer. */
export const timeoutSeconds = 10;

const clientRefusals: ReadonlySet<string> = new Set(['invalid_client', 'unauthorized_client']);

/** Whether the provider takes the client's id, its secret or the way in which that came for wrong. */
export function refusesClient(error: unknown): boolean {
  if (error instanceof client.ResponseBodyError) return clientRefusals.has(error.error);
  return error instanceof client.WWWAuthenticateChallengeError && error.cause.some(({ scheme }) => scheme === 'basic');
}

export const clocksDiffer = "the ID token is not valid now: compare this machine's clock with the provider's";
const clientRefused = 'the provider refuses the client: look at CONSOLE_OIDC_CLIENT_ID and CONSOLE_OIDC_CLIENT_SECRET';

/** A code of OAuth, of the library or of a connection; anything else could be a person's data. */
const word = /^[\w.-]{1,64}$/;

/** What a provider may say with the browser that it sends back. */
const hints: Readonly<Record<string, string>> = { invalid_scope: ': look at CONSOLE_OIDC_SCOPE' };

/** What Node says of a certificate whose authority it does not know. */
const unknownAuthorities: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** A connection that failed. */
interface ConnectionFault {
  code: string;
  hostname?: unknown;
  address?: unknown;
  port?: unknown;
}

function unreachable({ code, hostname, address, port }: ConnectionFault): string {
  if (unknownAuthorities.has(code))
    return `the provider's certificate is not of an authority that is known here (${code}): NODE_EXTRA_CA_CERTS names a file with others`;
  const place = typeof hostname === 'string' ? hostname : typeof address === 'string' ? `${address} port ${port}` : '';
  return `the provider cannot be reached (${`${code} ${place}`.trimEnd()})`;
}

/** A name that differs from the one in the settings, as it may be copied into them. */
function otherIssuer(body: unknown): string {
  const issuer = (body as { issuer?: unknown } | undefined)?.issuer;
  const name = typeof issuer === 'string' && issuer.length <= 300 && URL.canParse(issuer) ? JSON.stringify(issuer) : 'by another name';
  return `the provider calls itself ${name}: CONSOLE_OIDC_ISSUER has to be the issuer that it names`;
}

/** Which of the provider's addresses answered: neither its query nor what it answered. */
function answered({ status, url }: Response, what = ''): string {
  const place = URL.canParse(url) ? ` at ${new URL(url).origin}${new URL(url).pathname}` : '';
  return `the provider answered ${status}${what}${place}`;
}

function reasonOf(error: unknown): string {
  if (refusesClient(error)) return clientRefused;
  if (error instanceof client.ResponseBodyError) return answered(error.response, word.test(error.error) ? ` ${error.error}` : '');
  if (error instanceof client.WWWAuthenticateChallengeError) return answered(error.response);
  const { name = 'Error', code, cause } = error as { name?: string; code?: unknown; cause?: unknown };
  if (code === 'OAUTH_TIMEOUT') return `the provider did not answer within ${timeoutSeconds} s`;
  if (code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED') return clocksDiffer;
  if (cause instanceof Response) return answered(cause, code === 'OAUTH_RESPONSE_IS_NOT_JSON' ? ' without JSON' : '');
  const { attribute, body } = (cause ?? {}) as { attribute?: unknown; body?: unknown };
  if (code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED' && attribute === 'issuer') return otherIssuer(body);
  const fault = cause as ConnectionFault | undefined;
  if (name === 'TypeError' && typeof fault?.code === 'string' && word.test(fault.code)) return unreachable(fault);
  return `${name}${typeof code === 'string' ? ` ${code}` : ''}`;
}

/** No answer at all: the same sign-in may succeed a moment later. */
function isAway(error: unknown): boolean {
  const { name, code, cause } = error as { name?: string; code?: unknown; cause?: { code?: unknown } };
  return code === 'OAUTH_TIMEOUT' || (name === 'TypeError' && typeof cause?.code === 'string');
}

export function refusalOf(error: unknown, fault: 'failed' | 'unavailable'): OidcRefusal {
  if (error instanceof OidcRefusal) return error;
  if (error instanceof client.AuthorizationResponseError) {
    const code = error.error.slice(0, 64);
    const hint = clientRefusals.has(code) ? ': look at CONSOLE_OIDC_CLIENT_ID' : (hints[code] ?? '');
    return new OidcRefusal(code === 'access_denied' ? 'denied' : 'failed', `the provider answered ${code}${hint}`);
  }
  return new OidcRefusal(isAway(error) ? 'unavailable' : fault, reasonOf(error));
}
