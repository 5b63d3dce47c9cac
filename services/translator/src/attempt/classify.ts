/** What an attempt's failure means: for the caller's answer, for what is tried next, and for what is known of the upstream. */
import { type HealthSign, isInUpstreamTerms, type Operation } from '@model-gateway/contracts';
import { type ErrorCode, GatewayError, type GatewayErrorOptions } from '@model-gateway/contracts/errors';
import type { UpstreamFault } from '@model-gateway/protocols';
import type { OutboundFault } from '@model-gateway/upstream-client';
import type { NoAccessError } from '../access-tokens.ts';

/**
 * `key`: another key of the same upstream may do better, and so may another node · `node-or-key`: another node rather than another key, since
 * the upstream itself seems ill; with none left, its other keys may lead to a healthier part of it · `node`: another node may · `larger`: another
 * node, if its model is known to take more · `stop`: it would fail everywhere.
 */
export type NextStep = 'key' | 'node-or-key' | 'node' | 'larger' | 'stop';

interface Meaning {
  /** The caller's error when this was the last attempt of a single upstream. */
  code: ErrorCode;
  next: NextStep;
  sign: HealthSign;
}

/** The one table of error classes. A caller's own fault says nothing against the upstream: it must not be able to close one to others. */
const meanings: Record<UpstreamFault['class'], Meaning> = {
  caller: { code: 'upstream_rejected', next: 'stop', sign: 'none' },
  context: { code: 'context_overflow', next: 'larger', sign: 'none' },
  // The same model may be served there with a larger allowance.
  'too-large': { code: 'context_overflow', next: 'key', sign: 'none' },
  'not-found': { code: 'upstream_rejected', next: 'node', sign: 'none' },
  // Another model may write what this one could not; prompts decide it, so that nothing is known of the upstream.
  model: { code: 'upstream_rejected', next: 'node', sign: 'none' },
  credential: { code: 'upstream_credential', next: 'key', sign: 'key' },
  account: { code: 'upstream_failed', next: 'key', sign: 'key' },
  rate: { code: 'upstream_rate_limited', next: 'key', sign: 'node' },
  overloaded: { code: 'upstream_overloaded', next: 'node-or-key', sign: 'node' },
  server: { code: 'upstream_failed', next: 'node-or-key', sign: 'node' },
  timeout: { code: 'upstream_timeout', next: 'node', sign: 'hang' },
  connect: { code: 'upstream_failed', next: 'node', sign: 'line' },
  broken: { code: 'upstream_broken', next: 'node', sign: 'node' },
  busy: { code: 'upstream_connections', next: 'node', sign: 'none' },
};

/** An upstream that has moved has done so for every key. */
export const nextStep = (fault: UpstreamFault): NextStep => (isRedirect(fault) ? 'node' : meanings[fault.class].next);

/** Whether the key itself was refused: it would be for any other model too. */
export const refusesKey = (fault: UpstreamFault): boolean => meanings[fault.class].sign === 'key';

/** Codes of transport faults whose connection was never made, a proxy on the way included. */
const unreached = /_(?:dns|connect|proxy|tls)$/;
/** Codes of calls whose connection ended with others on it, of which one has counted already: they say nothing more. */
const shared = /_shared$/;
export function healthSign(fault: UpstreamFault): HealthSign {
  if (shared.test(fault.code ?? '')) return 'none';
  // Which may be about this model alone, or about something that the request names: other models go on with the key.
  if (fault.class === 'credential' && fault.status === 403) return 'node';
  // It was reached, and broke off: a firewall before it does so for what it finds in a request, which says nothing of the address.
  if (fault.class === 'connect' && !wasUnreached(fault)) return 'node';
  return fault.class === 'timeout' && wasUnreached(fault) ? 'line' : meanings[fault.class].sign;
}

/** As `healthSign`, of a call whose path its caller may have chosen: what is answered there tells little of the model, which no caller may close to others. */
export function signOfCall(fault: UpstreamFault, operation: Operation): HealthSign {
  // An address that is right need not serve every operation, and which one is asked for its caller chose.
  if (operation !== 'generate' && fault.class === 'server' && (fault.status === 404 || fault.status === 405)) return 'none';
  const sign = healthSign(fault);
  const isOurOwn = sign === 'line' || (sign === 'key' && fault.status === undefined);
  if (isOurOwn || !isInUpstreamTerms(operation)) return sign;
  return operation === 'native' && !isAboutPath(fault) ? sign : 'none';
}

/** Statuses of a service that is called at another's path, or in another way than it is meant to be; or no reply came. */
const isAboutPath = ({ class: kind, status = 0 }: UpstreamFault): boolean =>
  kind === 'timeout' || kind === 'connect' || ((kind === 'server' || kind === 'credential') && status >= 400 && status <= 499 && status !== 401);

/** Nothing reached the upstream: the next attempt is not a repetition. */
export const wasUnreached = ({ class: kind, code = '' }: UpstreamFault): boolean =>
  kind === 'busy' || ((kind === 'connect' || kind === 'timeout') && unreached.test(code));

/** An upstream that has moved: an admin has to enter the new address. */
const isRedirect = ({ status = 0 }: UpstreamFault): boolean => status >= 300 && status <= 399;

/** Codes of a reply that came whole but does not follow the protocol: the address or the protocol of the upstream may be wrong, where a reply that broke off says nothing of them. */
const unreadable: ReadonlySet<string> = new Set(['unreadable', 'malformed']);

function codeOf(fault: UpstreamFault): ErrorCode {
  if (isRedirect(fault)) return 'upstream_redirect';
  if (fault.class === 'broken' && unreadable.has(fault.code ?? '')) return 'upstream_bad_reply';
  return meanings[fault.class].code;
}

/** Faults whose words belong to the caller; all others say no more than our own sentence. */
const callersFaults = new Set<UpstreamFault['class']>(['caller', 'context', 'too-large', 'not-found', 'model']);

/** Longer than any path to a field that helps. */
const maxParamLength = 200;

export interface FaultFacts {
  /** Makes upstream text safe for the caller. */
  clean(text: string): string;
  /** Whether caller and upstream speak the same protocol. */
  sameProtocol?: boolean;
  /** The upstream's own body made safe, when caller and upstream speak the same protocol. */
  body?: string | undefined;
}

/** The error a caller gets when this fault ended the last attempt of a single upstream. */
export function faultToError(fault: UpstreamFault, facts: FaultFacts): GatewayError {
  const code = codeOf(fault);
  const details = facts.sameProtocol ? detailsOf(fault, facts) : {};
  const retryAfter = fault.retryAfterMs === undefined ? {} : { retryAfter: Math.max(1, Math.ceil(fault.retryAfterMs / 1000)) };
  if (!callersFaults.has(fault.class))
    return new GatewayError(code, {
      ...retryAfter,
      ...details,
      cause: new Error(`${fault.class} ${fault.status ?? ''} ${fault.code ?? ''}: ${facts.clean(fault.message)}`),
    });
  // Vendors use several statuses for a prompt that does not fit; clients look for one.
  const fits = fault.class !== 'context' && fault.class !== 'too-large';
  const status = fits && fault.status !== undefined && fault.status >= 400 && fault.status < 500 ? fault.status : 400;
  return new GatewayError(code, {
    status,
    message: facts.clean(fault.message),
    ...(fault.param !== undefined && { param: facts.clean(fault.param).slice(0, maxParamLength) }),
    ...(fault.allow !== undefined && { headers: { allow: fault.allow } }),
    ...details,
    // Clients act on the vendor's words of their own protocol, which a compatible server need not use.
    ...(facts.body !== undefined && fits && { body: facts.body }),
  });
}

const ours = new Set<UpstreamFault['class']>(['credential', 'account']);

/** What is wrong with our key or our account is not the caller's to know. */
export const isOurs = (fault: UpstreamFault): boolean => ours.has(fault.class);

const maxDetailsLength = 4096;

function detailsOf(fault: UpstreamFault, facts: FaultFacts): Pick<GatewayErrorOptions, 'details'> {
  if (!fault.details || isOurs(fault)) return {};
  const text = facts.clean(JSON.stringify(fault.details));
  if (text.length > maxDetailsLength) return {};
  try {
    return { details: JSON.parse(text) as Record<string, unknown> };
  } catch {
    // What was made unreadable in it was our credential.
    return {};
  }
}

const outboundClasses: Record<OutboundFault['class'], UpstreamFault['class']> = {
  connect: 'connect',
  timeout: 'timeout',
  reset: 'broken',
  protocol: 'broken',
  'refused-address': 'connect',
  aborted: 'broken',
  busy: 'busy',
};

/** A login that gives no token. For now: as an upstream that cannot be reached; else as a refused key. */
export const noAccess = ({ refusal }: NoAccessError): UpstreamFault => ({
  class: refusal === 'unavailable' ? 'server' : 'credential',
  code: `sso_${refusal}`,
  message: `the credential of the upstream gives no token: ${refusal}`,
});

/**
 * A transport failure in the protocol's terms. A reset before any reply is a failed connection, not a broken reply. No caller sees the words of these
 * classes, so that they say to logs and admins why.
 */
export function outboundFault(fault: OutboundFault, replied: boolean): UpstreamFault {
  const kind = outboundClasses[fault.class];
  return {
    class: kind === 'broken' && !replied ? 'connect' : kind,
    code: `${fault.class}_${fault.phase}${fault.shared ? '_shared' : ''}`,
    message: fault.detail ? `${fault.message} (${fault.detail})` : fault.message,
  };
}
