/** The ways a call can fail, in words that are safe to hand on: no address, no header, no upstream text. */

import { tlsWords } from './tls-words.ts';

/** `busy`: no connection of ours to the origin was free, or could be opened for want of a file descriptor. */
export type FaultClass = 'connect' | 'timeout' | 'reset' | 'protocol' | 'refused-address' | 'aborted' | 'busy';
export type FaultPhase = 'dns' | 'connect' | 'proxy' | 'tls' | 'first-byte' | 'idle' | 'total' | 'body';

export interface OutboundFault {
  class: FaultClass;
  /** What the call was doing. `first-byte`: sending the request or waiting for the reply's head. */
  phase: FaultPhase;
  /** Safe for callers. */
  message: string;
  /** Why, in codes and words of our own, for logs and admins: what the proxy answered, what is wrong with the certificate. No credential, no upstream text. */
  detail?: string | null;
  /** The original, for logs only: it may name addresses. */
  cause: unknown;
  /** One HTTP/2 connection ended with several calls on it, and another of them reports it: it counts against the upstream once. */
  shared?: boolean;
}

const messages: Record<FaultClass, string> = {
  connect: 'The upstream could not be reached.',
  timeout: 'The upstream did not answer in time.',
  reset: 'The upstream closed the connection before the reply was complete.',
  protocol: 'The upstream sent a reply that cannot be read.',
  'refused-address': 'The address of the upstream is not allowed.',
  aborted: 'The call was given up.',
  busy: 'All connections to the upstream are in use.',
};
/** Where the class alone says too little. */
const closer: Partial<Record<`${FaultClass} ${FaultPhase}`, string>> = {
  'connect dns': 'The name of the upstream could not be resolved.',
  'connect proxy': 'The proxy of the upstream did not connect.',
  'connect tls': 'No secure connection to the upstream could be made.',
  'timeout connect': 'The upstream could not be reached in time.',
  'timeout idle': 'The upstream stopped sending.',
  'timeout total': 'The upstream took too long.',
};

export function createFault(kind: FaultClass, phase: FaultPhase, cause: unknown, message?: string): OutboundFault {
  return { class: kind, phase, message: message ?? closer[`${kind} ${phase}`] ?? messages[kind], detail: detailOf(cause), cause };
}

/** What Node, OpenSSL and the resolver call their errors. */
const errorCode = /^[A-Z][A-Z0-9_/]{2,63}$/;

/** The words of the dialer and the resolver, the code of the innermost error, and what may be done about it. */
function detailOf(cause: unknown): string | null {
  const said = new Set<string>();
  let code: string | undefined;
  for (let error = cause; error instanceof Error && said.size < 4; error = error.cause) {
    if (error instanceof DialError || error.name === 'DnsError') said.add(error.message);
    const own = (error as NodeJS.ErrnoException).code;
    if (typeof own === 'string' && errorCode.test(own)) code = own;
  }
  const advice = code === undefined ? undefined : tlsWords(code);
  const words = [...said].join(': ');
  const named = code === undefined || words.includes(code) ? words : [words, code].filter(Boolean).join(': ');
  return (advice === undefined ? named : `${named}, ${advice}`) || null;
}

/** Thrown inside the dialer so that the phase of a failed connection is known. */
export class DialError extends Error {
  override readonly name = 'DialError';
  readonly kind: FaultClass;
  readonly phase: FaultPhase;
  constructor(kind: FaultClass, phase: FaultPhase, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
    this.phase = phase;
  }
}

/** Errors of undici that mean "the bytes are wrong", not "the bytes stopped". Parser errors mostly carry no code, only their name. */
function isMalformed(error: { name?: unknown; code?: unknown } | null): boolean {
  if (error?.name === 'HTTPParserError') return error.code !== 'HPE_INVALID_EOF_STATE';
  return error?.code === 'UND_ERR_HEADERS_OVERFLOW' || error?.code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' || error?.code === 'ERR_HTTP2_ERROR';
}

/** This process, or this machine, may open no more sockets: that says nothing of the upstream. */
function lacksDescriptors(error: unknown): boolean {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  return [code, cause?.code].some((one) => one === 'EMFILE' || one === 'ENFILE');
}

/** What an error of undici, the sockets or the dialer means. */
export function faultOf(error: unknown, phase: FaultPhase): OutboundFault {
  if (lacksDescriptors(error)) return createFault('busy', 'connect', error, 'The gateway can open no more connections.');
  if (error instanceof DialError) return createFault(error.kind, error.phase, error);
  // The connection's own phase failed without the dialer saying so: nothing was sent.
  if (phase === 'connect') return createFault('connect', 'connect', error);
  return createFault(isMalformed(error as { name?: unknown; code?: unknown } | null) ? 'protocol' : 'reset', phase, error);
}
