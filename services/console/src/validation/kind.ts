/** A model's kind must be one that is built, and one that the protocol which it is called by knows. */

import type { UpstreamProtocol } from '../context.ts';
import type { Detail } from '../problem.ts';

export function checkKind(kind: string | null, protocols: readonly UpstreamProtocol[]): Detail[] {
  const built = protocols.flatMap(({ upstream }) => upstream.kinds ?? []);
  return !kind || built.includes(kind) ? [] : [{ field: 'kind', message: `the kind ${kind} is not built yet; built: none and ${built.join(', ')}` }];
}

/** What is wrong with this kind under this protocol; null when nothing is. */
export function checkKindOfProtocol(kind: string | null, protocol: string, protocols: readonly UpstreamProtocol[]): string | null {
  const known = protocols.find(({ id }) => id === protocol)?.upstream.kinds ?? [];
  return !kind || known.includes(kind) ? null : `the protocol ${protocol} knows no kind ${kind}`;
}
