/** Prefers the node and key whose account issued the proofs that a request carries: anywhere else they would be stripped (contract §7, Replicas). */
import type { Model, PlannedNode, UpstreamRecord } from '@model-gateway/contracts';
import type { Health } from './health.ts';
import type { Node } from './nodes.ts';

/** Position of the key whose account issued them, -1 when none of this node's did. */
export type FindOwner = (model: Model, upstream: UpstreamRecord) => number;

/** The key's position, when it may be asked first: a standby may not, nor one that stands in trouble. */
export function ownerKey(model: Model, upstream: UpstreamRecord, findOwner: FindOwner, health: Health, now: number): number {
  const index = findOwner(model, upstream);
  const key = upstream.api_keys[index];
  return key && key.weight > 0 && !(health.hasTroubles(upstream.name) && health.obstacle(model, upstream, key.id, now)) ? index : -1;
}

/** The owner's key first; the caller's binding to another key stays as it is. */
export function putKeyFirst(node: PlannedNode, index: number): void {
  if (node.keys[0] !== index && node.keys.includes(index)) node.keys = [index, ...node.keys.filter((key) => key !== index)];
}

/** Whether one of this node's keys has the account that issued them. */
export const isOwner = ({ record, upstream }: Node, findOwner: FindOwner): boolean => record !== null && upstream !== null && findOwner(record, upstream) >= 0;
