/** Seals and opens thinking signatures for one route: the envelope names model, upstream and account. */
import { createHash } from 'node:crypto';
import { promptPrefix } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import { accountOf, openSignature, ownerTag, sealSignature } from '@model-gateway/signature-envelope';
import type { SignatureDeps } from './deps.ts';

/** Opens the thinking signatures of a request, and seals those of its reply. */
export interface Signatures {
  seal(signature: string): string;
  /** null: not to be used on this route. */
  open(sealed: string): string | null;
  /** Those that were opened, as the caller holds them. */
  sent(): Iterable<string>;
  /** Whether any was opened: what was made of this request then holds what this account alone may see. */
  opened(): boolean;
  /** Whether an opened signature was issued for another conversation prefix than this request has, which then explains a refusal. */
  prefixChanged(): boolean;
}

/**
 * `signatureKind`: the vendor's form of signature that this upstream uses. `readBody` gives the request as sent, of which the prefix is hashed; it is
 * called only when a signature is sealed or a refusal explained.
 */
export function createSignatures(route: Route, deps: SignatureDeps, signatureKind: string, readBody: () => unknown): Signatures {
  const account = accountOf(route.key);
  const claims = { model: route.model.name, upstream: route.upstream.name, account, protocol: signatureKind };
  /** Made when there is a signature, which most requests have none of. */
  let opened: { sealed: Set<string>; prefixHashes: Set<string> } | undefined;
  let owner: string | undefined;
  /** undefined: not asked for yet; null: not to be known. */
  let prefixHash: string | null | undefined;
  const hashPrefix = (): string | null => {
    if (prefixHash === undefined) prefixHash = prefixHashOf(readBody);
    return prefixHash;
  };
  return {
    seal(signature) {
      owner ??= ownerTag(route.upstream.id, account, route.model.name);
      const hash = hashPrefix();
      return sealSignature({ ...claims, owner, ...(hash !== null && { prefixHash: hash }), signature }, deps.envelopeKeys.sealing);
    },
    open(sealed) {
      if (deps.refused.has(route, sealed)) return null;
      const signature = openSignature(sealed, deps.envelopeKeys.opening, { ...claims, passthrough: route.model.signature_passthrough });
      if (!signature.ok) return null;
      opened ??= { sealed: new Set(), prefixHashes: new Set() };
      opened.sealed.add(sealed);
      if (signature.prefixHash !== undefined) opened.prefixHashes.add(signature.prefixHash);
      return signature.signature;
    },
    sent: () => opened?.sealed ?? [],
    opened: () => opened !== undefined,
    prefixChanged() {
      const now = hashPrefix();
      return now !== null && [...(opened?.prefixHashes ?? [])].some((hash) => hash !== now);
    },
  };
}

/**
 * null where the body cannot be parsed: bytes that pass as they are need not be the JSON that this runtime reads (a raw control character in a text), and
 * the reply that an upstream gave to them all the same is not lost for a hash that only explains refusals.
 */
function prefixHashOf(readBody: () => unknown): string | null {
  let body: unknown;
  try {
    body = readBody();
  } catch {
    return null;
  }
  return createHash('sha256')
    .update(JSON.stringify(promptPrefix(body)))
    .digest('base64url')
    .slice(0, 16);
}
