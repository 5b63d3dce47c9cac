/** What an envelope says of the proof inside: who issued it, for which model. */

export interface SignatureClaims {
  /** The vendor's proof, byte for byte. */
  signature: string;
  /** Canonical model name. */
  model: string;
  upstream: string;
  /** Whose credential the upstream saw. */
  account: string;
  /** Whose form of proof it is: the protocol it came in, or the one whose proofs that protocol carries. */
  protocol: string;
  /** Hash of what the upstream saw before this reply (system, tools). It never strips by itself: it explains a rejection. */
  prefixHash?: string;
  /** The owner's tag (`ownerTag`), shown in the clear beside what is sealed. */
  owner?: string;
}

/** A fixed order without names: one set of claims has one text, and the envelope stays short. */
export const printClaims = ({ model, upstream, account, protocol, prefixHash, signature }: SignatureClaims): string =>
  JSON.stringify([model, upstream, account, protocol, prefixHash ?? null, signature]);

/** Null on text that `printClaims` did not print. */
export function parseClaims(text: string): SignatureClaims | null {
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch {
    // Sealed with our key by something else: nothing that we can use.
    return null;
  }
  if (!Array.isArray(fields) || fields.length !== 6) return null;
  const [model, upstream, account, protocol, prefixHash, signature] = fields as unknown[];
  if (typeof model !== 'string' || typeof upstream !== 'string' || typeof account !== 'string') return null;
  if (typeof protocol !== 'string' || typeof signature !== 'string') return null;
  if (prefixHash !== null && typeof prefixHash !== 'string') return null;
  return { model, upstream, account, protocol, signature, ...(prefixHash !== null && { prefixHash }) };
}
