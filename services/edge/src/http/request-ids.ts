/** What a request is called: by us, and by its caller. Every reply of the data plane carries both. */
import type { IncomingMessage } from 'node:http';
import type { ClientAdapter } from '@model-gateway/protocols';
import { mintRequestId } from '@model-gateway/service-runtime';

export interface RequestIds {
  readonly id: string;
  /** `z-request-id`, where it is fit to be echoed. */
  readonly clientRequestId: string | null;
}

const plainToken = /^[\x21-\x7e]{1,128}$/;

export function clientRequestIdOf(request: IncomingMessage): string | null {
  const given = request.headers['z-request-id'];
  return typeof given === 'string' && plainToken.test(given) ? given : null;
}

/** For what is answered before anything else knows of it. */
export const newRequestIds = (request: IncomingMessage): RequestIds => ({ id: mintRequestId(), clientRequestId: clientRequestIdOf(request) });

/** The headers of its replies, as Node writes a head fastest: name, value, name, value. `client`: absent where the protocol has none. */
export function idHeaders({ id, clientRequestId }: RequestIds, client: Pick<ClientAdapter, 'replyHeaders'> | undefined): string[] {
  const list = ['x-request-id', id];
  if (clientRequestId !== null) list.push('z-request-id', clientRequestId);
  const own = client?.replyHeaders?.(id);
  for (const name in own) list.push(name, own[name]!);
  return list;
}

/** The same as lines of a head that is written by hand. */
export function headerLines(list: readonly string[]): string[] {
  const lines: string[] = [];
  for (let at = 0; at < list.length; at += 2) lines.push(`${list[at]}: ${list[at + 1]}`);
  return lines;
}
