/** Only protocols that are built may be chosen. */
import type { Detail } from '../problem.ts';
import type { UpstreamProtocol } from '../room.ts';

export function checkProtocol(field: string, id: string, protocols: readonly UpstreamProtocol[]): Detail[] {
  if (protocols.some((protocol) => protocol.id === id)) return [];
  return [{ field, message: `the protocol ${id} is not built yet for upstreams; built: ${protocols.map((protocol) => protocol.id).join(', ')}` }];
}
