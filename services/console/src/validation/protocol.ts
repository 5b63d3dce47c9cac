/** Only protocols that are built may be chosen. */

import type { UpstreamProtocol } from '../context.ts';
import type { Detail } from '../problem.ts';

export function checkProtocol(field: string, id: string, protocols: readonly UpstreamProtocol[]): Detail[] {
  if (protocols.some((protocol) => protocol.id === id)) return [];
  return [{ field, message: `the protocol ${id} is not built yet for upstreams; built: ${protocols.map((protocol) => protocol.id).join(', ')}` }];
}
