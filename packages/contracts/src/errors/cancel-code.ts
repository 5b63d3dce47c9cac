import type { ErrorCode } from './codes.ts';

const codes: ReadonlyMap<string | null, ErrorCode> = new Map([
  ['client gone', 'client_gone'],
  ['drain', 'draining'],
  ['deadline', 'timeout'],
  ['the opener failed', 'internal'],
]);

/** What a row says of a request that the edge cancelled for this reason; any that is not known is an edge that died. */
export const codeOfCancel = (reason: string | null): ErrorCode => codes.get(reason) ?? 'service_lost';
