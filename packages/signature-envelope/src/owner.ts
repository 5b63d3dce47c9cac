/** The owner's tag: who issued a proof, told without opening its envelope, so that a router may prefer that account (contract §7, Replicas). */
import { createHash } from 'node:crypto';

export const ownerBytes = 8;

/** The account a proof belongs to: named by the admin, else the stable id of the key entry, which survives a rotation of its value; '' without a key. */
export const accountOf = (key: { id: string; account?: string | undefined } | null): string => (key ? (key.account ?? key.id) : '');

/**
 * The tag of one account of one upstream, and of the model, since no other may have its proofs; base64url. `upstreamId` is the upstream's minted
 * id, which no caller knows: a tag that callers hold names nothing to them, and no list of likely names can be tried against it.
 */
export const ownerTag = (upstreamId: string, account: string, model: string): string =>
  createHash('sha256')
    .update(`model-gateway/signatures/owner\u0000${upstreamId}\u0000${account}\u0000${model}`)
    .digest()
    .subarray(0, ownerBytes)
    .toString('base64url');
