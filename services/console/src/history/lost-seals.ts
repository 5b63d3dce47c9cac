/** Secrets of an earlier revision whose master key is gone: a row that is put back with them would be one that does not work. */
import type { Keyring } from '@model-gateway/secrets';
import type { RowChange } from '@model-gateway/storage';
import { type Detail, Problem } from '../problem.ts';

/** Throws 409 with a list of such rows. A secret that the present row holds as well is no reason: it is lost in either case. */
export function refuseLostSeals(since: readonly RowChange[], keyring: Pick<Keyring, 'missingKey'>): void {
  const details = since.flatMap(({ section, name, before, after }): Detail[] => {
    const present = new Set(sealsOf(after?.document));
    const returning = sealsOf(before?.document).filter((sealed) => !present.has(sealed));
    const lost = returning.map((sealed) => keyring.missingKey(sealed)).find((id) => id !== null);
    const message = `holds secrets under the master key "${lost}", which GATEWAY_MASTER_KEY does not have`;
    return lost === undefined ? [] : [{ field: `${section}.${name}`, message }];
  });
  if (details.length === 0) return;
  throw new Problem(
    'conflict',
    `The configuration cannot be put back: the secrets of ${details.length} of its entries were sealed under a master key that is gone. Add that key to GATEWAY_MASTER_KEY again, after the present one.`,
    details,
  );
}

/** All values of a stored document in fields called `sealed…`. */
function sealsOf(value: unknown, isSealed = false): string[] {
  if (typeof value === 'string') return isSealed ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => sealsOf(part, isSealed || name.startsWith('sealed')));
}
