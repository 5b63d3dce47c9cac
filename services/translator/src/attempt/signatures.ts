/** Seals and opens thinking proofs for one route: the envelope names model, upstream and account. */
import { createHash } from 'node:crypto';
import { promptPrefix } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import { accountOf, openSignature, ownerTag, sealSignature } from '@model-gateway/signatures';
import type { Room } from '../room.ts';

export interface Proofs {
  seal(signature: string): string;
  /** null: not to be sent on this route. */
  open(sealed: string): string | null;
  /** Whether any was opened: what was made of this request then holds what this account alone may see. */
  opened(): boolean;
  /** Whether a proof that was opened came with another beginning of the conversation than this request has: what a refusal is then about. */
  prefixChanged(): boolean;
}

/**
 * `proofKind`: whose form of proof this upstream takes and gives. `readBody` gives the request as sent, of which the prefix is hashed; it is
 * called only when a proof is sealed or a refusal explained.
 */
export function createProofs(route: Route, room: Room, proofKind: string, readBody: () => unknown): Proofs {
  const account = accountOf(route.key);
  const claims = { model: route.model.name, upstream: route.upstream.name, account, protocol: proofKind };
  const seen: string[] = [];
  let opened = false;
  let owner: string | undefined;
  let prefixHash: string | undefined;
  const hashPrefix = (): string => {
    prefixHash ??= createHash('sha256')
      .update(JSON.stringify(promptPrefix(readBody())))
      .digest('base64url')
      .slice(0, 16);
    return prefixHash;
  };
  return {
    seal(signature) {
      owner ??= ownerTag(route.upstream.id, account, route.model.name);
      return sealSignature({ ...claims, owner, prefixHash: hashPrefix(), signature }, room.envelopeKeys.sealing);
    },
    open(sealed) {
      const proof = openSignature(sealed, room.envelopeKeys.opening, { ...claims, passthrough: route.model.signature_passthrough });
      if (!proof.ok) return null;
      opened = true;
      if (proof.prefixHash !== undefined && !seen.includes(proof.prefixHash)) seen.push(proof.prefixHash);
      return proof.signature;
    },
    opened: () => opened,
    prefixChanged: () => seen.some((hash) => hash !== hashPrefix()),
  };
}
