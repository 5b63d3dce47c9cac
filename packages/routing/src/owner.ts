/**
 * Prefers the node and key whose account issued the thinking signatures in a request: only that account accepts them, and anywhere else they would
 * have to be removed.
 */
import type { Model, PlannedNode, UpstreamRecord } from '@model-gateway/contracts';
import type { Health } from './health.ts';
import type { Node } from './nodes.ts';

/** Position of the key whose account issued the signatures, -1 when none of this node's did. */
export type FindOwner = (model: Model, upstream: UpstreamRecord) => number;

/** The key's position, if it may be asked first: not a standby, and not one that is held back. */
export function ownerKey(model: Model, upstream: UpstreamRecord, findOwner: FindOwner, { health, now }: { health: Health; now: number }): number {
  const index = findOwner(model, upstream);
  const key = upstream.api_keys[index];
  return key && key.weight > 0 && !(health.hasTroubles(upstream.name) && health.obstacle(model, upstream, key.id, now)) ? index : -1;
}

/** The owner's key first; an existing binding of the caller to another key stays. */
export function putKeyFirst(node: PlannedNode, index: number): void {
  if (node.keys[0] !== index && node.keys.includes(index)) node.keys = [index, ...node.keys.filter((key) => key !== index)];
}

/** Whether one of this node's keys belongs to the account that issued the signatures. */
export const isOwner = ({ record, upstream }: Node, findOwner: FindOwner): boolean => record !== null && upstream !== null && findOwner(record, upstream) >= 0;
