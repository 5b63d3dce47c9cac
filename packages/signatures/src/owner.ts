/** The owner's tag: who issued a proof, told without opening its envelope, so that a router may prefer that account (contract §7, Replicas). */
import { createHash } from 'node:crypto';

export const ownerBytes = 8;

/**
 * The tag of one account at one upstream, as base64url. `upstreamId` is the upstream's minted id, which no caller knows: a tag that callers hold
 * names nothing to them, and no list of likely account names can be tried against it.
 */
export const ownerTag = (upstreamId: string, account: string): string =>
  createHash('sha256').update(`model-gateway/signatures/owner\u0000${upstreamId}\u0000${account}`).digest().subarray(0, ownerBytes).toString('base64url');
