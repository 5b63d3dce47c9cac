/** The headers of one upstream call, made afresh for every attempt. */
import type { Prepared } from '../prepare.ts';
import type { Room } from '../room.ts';

/** The protocol's own, then the credential, then the upstream's custom headers, which override both. */
export function callHeaders(prepared: Prepared, room: Room): Record<string, string> {
  const { request, route, upstream } = prepared;
  const headers: Record<string, string> = { ...request.headers };
  if (route.key) Object.assign(headers, upstream.credential(room.openKey(route.upstream, route.key), route.target));
  if (route.upstream.user_agent) headers['user-agent'] = route.upstream.user_agent;
  for (const [name, value] of Object.entries(route.upstream.custom_headers)) headers[name.toLowerCase()] = value;
  return headers;
}
