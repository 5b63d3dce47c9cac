/** What an attempt's failure means: for the caller's answer, and for whether another key may be tried. */
import { type ErrorCode, GatewayError } from '@model-gateway/errors';
import type { OutboundFault } from '@model-gateway/outbound';
import type { UpstreamFault } from '@model-gateway/protocols';

/** Faults that lie with the key: the next key of the same upstream may do better. */
const keyFaults = new Set<UpstreamFault['class']>(['credential', 'account', 'rate']);
export const mayTryNextKey = (fault: UpstreamFault): boolean => keyFaults.has(fault.class);

const codes: Record<UpstreamFault['class'], ErrorCode> = {
  caller: 'upstream_rejected',
  context: 'upstream_rejected',
  'not-found': 'upstream_rejected',
  credential: 'upstream_credential',
  account: 'upstream_failed',
  rate: 'upstream_rate_limited',
  overloaded: 'upstream_overloaded',
  server: 'upstream_failed',
  timeout: 'upstream_timeout',
  connect: 'upstream_failed',
  broken: 'upstream_broken',
};

/** Faults whose words belong to the caller; all others say no more than our own sentence. */
const callersFaults = new Set<UpstreamFault['class']>(['caller', 'context', 'not-found']);

/** Longer than any path to a field that helps. */
const longestParam = 200;

export interface FaultFacts {
  /** Makes upstream text safe for the caller. */
  clean(text: string): string;
  /** The upstream's own body made safe, when caller and upstream speak the same protocol. */
  body?: string | undefined;
}

/** The error a caller gets when this fault was the last word of a single upstream (contract §3). */
export function faultToError(fault: UpstreamFault, facts: FaultFacts): GatewayError {
  const code = codes[fault.class];
  const retryAfter = fault.retryAfterMs === undefined ? {} : { retryAfter: Math.max(1, Math.ceil(fault.retryAfterMs / 1000)) };
  if (!callersFaults.has(fault.class))
    return new GatewayError(code, {
      ...retryAfter,
      cause: new Error(`${fault.class} ${fault.status ?? ''} ${fault.code ?? ''}: ${facts.clean(fault.message)}`),
    });
  const status = fault.status !== undefined && fault.status >= 400 && fault.status < 500 ? fault.status : 400;
  return new GatewayError(code, {
    status,
    message: facts.clean(fault.message),
    ...(fault.param !== undefined && { param: facts.clean(fault.param).slice(0, longestParam) }),
    ...(facts.body !== undefined && { body: facts.body }),
  });
}

const outboundClasses: Record<OutboundFault['class'], UpstreamFault['class']> = {
  connect: 'connect',
  timeout: 'timeout',
  reset: 'broken',
  protocol: 'broken',
  'refused-address': 'connect',
  aborted: 'broken',
};

/** A transport failure in the protocol's terms. A reset before any reply is a failed connection, not a broken reply. */
export function outboundFault(fault: OutboundFault, replied: boolean): UpstreamFault {
  const kind = outboundClasses[fault.class];
  return { class: kind === 'broken' && !replied ? 'connect' : kind, code: `${fault.class}_${fault.phase}`, message: fault.message };
}
