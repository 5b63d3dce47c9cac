/** The owner's tag: identifies the issuer of a thinking signature without opening its envelope, so that a router can prefer the account that will accept it. */
import { createHash } from 'node:crypto';

export const ownerBytes = 8;

/** The account a signature belongs to: as named by the admin, else the stable id of the key entry, which survives a rotation of its value; '' without a key. */
export const accountOf = (key: { id: string; account?: string | undefined } | null): string => (key ? (key.account ?? key.id) : '');

/**
 * The tag of one account of one upstream and one model, since no other model may receive its signatures; base64url. `upstreamId` is the upstream's
 * minted id, which callers do not know, so that a tag reveals no name to them, not even to one who tries a list of likely names.
 */
export const ownerTag = (upstreamId: string, account: string, model: string): string =>
  createHash('sha256')
    .update(`model-gateway/signatures/owner\u0000${upstreamId}\u0000${account}\u0000${model}`)
    .digest()
    .subarray(0, ownerBytes)
    .toString('base64url');
