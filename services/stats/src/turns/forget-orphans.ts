/** Turns of access keys that were deleted. */
import type { Snapshot } from '@model-gateway/contracts';
import type { Storage } from '@model-gateway/storage';

/** Turns of access keys that are gone from the configuration are forgotten: their owners cannot ask for that any more. */
export async function forgetOrphans(turns: Storage['turns'], { accessKeys }: Pick<Snapshot, 'accessKeys'>, stopped: () => boolean): Promise<number> {
  const known = new Set([...accessKeys.values()].flatMap(({ id }) => id ?? []));
  // A configuration without ids comes from an earlier version, and one without keys may be none at all.
  if (known.size === 0) return 0;
  let gone = 0;
  for (const owner of await turns.owners()) if (!known.has(owner) && !stopped()) gone += await turns.forgetOwner(owner, stopped);
  return gone;
}
