/** What is said of paths at which nothing is served. */
import { GatewayError } from '@model-gateway/contracts/errors';
import { clientProtocols } from '@model-gateway/protocols';
import { type ClientProtocol, findClientRoute, type Headers } from './client-routes.ts';

/** What official SDKs offer as well, and the gateway does not; several protocols have some of these paths in common. */
export function notServed(protocol: ClientProtocol, path: string): string | undefined {
  for (const { client } of [protocol, ...clientProtocols]) {
    const known = client.notServed?.find((one) => {
      const isBelow = path.startsWith(`${one.path}/`);
      return one.verb === undefined ? path === one.path || isBelow : isBelow && path.endsWith(`:${one.verb}`);
    });
    if (known) return known.message;
  }
  return undefined;
}

export const unknownPath = (path: string, message = `There is nothing at ${shown(path)}.`): GatewayError => new GatewayError('not_found', { message });

const shown = (path: string): string => path.slice(0, 200);

const twice = /^\/v\d+[a-z]*(?=\/v\d+[a-z]*\/)/;

/** A path that lacks the version, or has it twice, because the client was given another base address than it expects; undefined: it is no such path. */
export function wrongBase(method: string, path: string, headers: Headers): { protocol: ClientProtocol; error: GatewayError } | undefined {
  const doubled = twice.exec(path);
  const meant = doubled ? path.slice(doubled[0].length) : `/v1${path}`;
  const answer = findClientRoute(method, meant, new URLSearchParams(), headers);
  if (!('found' in answer)) return undefined;
  const remedy = doubled ? `must not end in ${doubled[0]}` : 'must end in /v1';
  const message = `There is nothing at ${shown(path)}, but at ${shown(meant)}: the base address that the client was given ${remedy}.`;
  return { protocol: answer.found.protocol, error: unknownPath(path, message) };
}
