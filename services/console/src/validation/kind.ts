/** A model's kind must be one that is built, and one that the protocol which it is called by knows. */

import type { CatalogReader } from '@model-gateway/storage';
import type { UpstreamProtocol } from '../context.ts';
import { type Detail, invalid } from '../problem.ts';
import { joinPath } from './read-input.ts';

export function checkKind(kind: string | null, protocols: readonly UpstreamProtocol[]): Detail[] {
  const built = protocols.flatMap(({ upstream }) => upstream.kinds ?? []);
  return !kind || built.includes(kind) ? [] : [{ field: 'kind', message: `the kind ${kind} is not built yet; built: none and ${built.join(', ')}` }];
}

/** What is wrong with this kind under this protocol; null when nothing is. */
export function checkKindOfProtocol(kind: string | null, protocol: string, protocols: readonly UpstreamProtocol[]): string | null {
  const known = protocols.find(({ id }) => id === protocol)?.upstream.kinds ?? [];
  return !kind || known.includes(kind) ? null : `the protocol ${protocol} knows no kind ${kind}`;
}

/** An error lists at most this many of what is in the way. */
const listed = 20;

/** Throws 422 that lists the models whose kind the protocol of their upstream does not know. */
export async function checkKindsOfModels(
  { name, protocol }: { name: string; protocol: string },
  { reader, prefix, protocols }: { reader: Pick<CatalogReader, 'models'>; prefix: string; protocols: readonly UpstreamProtocol[] },
): Promise<void> {
  const models = (await reader.models.withText('kind')).filter(({ document }) => document.upstream === name && document.protocol === null);
  const faults = models.flatMap(({ document }): Detail[] => {
    const misfit = checkKindOfProtocol(document.kind, protocol, protocols);
    return misfit ? [{ field: joinPath(prefix, 'protocol'), message: `${misfit}, which the model ${document.name} has: change that model first` }] : [];
  });
  if (faults.length > 0) throw invalid(faults.slice(0, listed));
}
