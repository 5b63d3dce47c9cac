/** The content of an envelope: the thinking signature, its issuer, and its model. */

export interface SignatureClaims {
  /** The vendor's signature, byte for byte. */
  signature: string;
  /** Canonical model name. */
  model: string;
  upstream: string;
  /** The account whose credential the upstream saw. */
  account: string;
  /** The protocol in whose form the signature is: the one it arrived in, or the one whose signatures that protocol carries. */
  protocol: string;
  /** Hash of what the upstream saw before this reply (system, tools). A difference alone does not remove a signature: it explains a rejection. */
  prefixHash?: string;
  /** The owner's tag (`ownerTag`), shown in the clear beside what is sealed. */
  owner?: string;
}

/** A fixed order without names: equal claims give equal text, and the envelope stays short. */
export const printClaims = ({ model, upstream, account, protocol, prefixHash, signature }: SignatureClaims): string =>
  JSON.stringify([model, upstream, account, protocol, prefixHash ?? null, signature]);

/** Null on text that `printClaims` did not print. */
export function parseClaims(text: string): SignatureClaims | null {
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch {
    // Sealed with our key by other code: not usable.
    return null;
  }
  if (!Array.isArray(fields) || fields.length !== 6) return null;
  const [model, upstream, account, protocol, prefixHash, signature] = fields as unknown[];
  if (typeof model !== 'string' || typeof upstream !== 'string' || typeof account !== 'string') return null;
  if (typeof protocol !== 'string' || typeof signature !== 'string') return null;
  if (prefixHash !== null && typeof prefixHash !== 'string') return null;
  return { model, upstream, account, protocol, signature, ...(prefixHash !== null && { prefixHash }) };
}
