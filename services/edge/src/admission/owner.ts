/** Who owns what the gateway keeps for callers: their access key, by an id that outlives its name and its rotation. */
import type { Snapshot } from '@model-gateway/contracts';
import type { Principal } from './credentials.ts';

/** undefined: the configuration comes from a console of an earlier version, which tells no ids. */
export const ownerOf = ({ key }: Pick<Principal, 'key'>): string | undefined => key.id;

/** The same of streams, which do not outlive this process. */
export const streamOwnerOf = (principal: Pick<Principal, 'key'>): string => ownerOf(principal) ?? principal.key.hash;

/** Whether a request of this caller would still be admitted: the key may be disabled, deleted or expired by now. */
export function mayStay(principal: Principal, snapshot: Snapshot | null, now: number): boolean {
  if (!snapshot) return true;
  const key = snapshot.accessKeys.get(principal.key.hash) ?? rotated(principal, snapshot);
  return key?.enabled === true && (key.expires_at === null || key.expires_at > now) && snapshot.keyGroups.get(key.group)?.enabled === true;
}

/** The key with the same id, under another hash. */
function rotated(principal: Principal, { accessKeys }: Snapshot): Principal['key'] | undefined {
  const id = ownerOf(principal);
  if (id === undefined) return undefined;
  for (const key of accessKeys.values()) if (ownerOf({ key }) === id) return key;
  return undefined;
}
