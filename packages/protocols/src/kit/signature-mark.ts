/**
 * Where a protocol has one field that every client returns unchanged, signatures that other vendors attach elsewhere use it too, with a mark before
 * the envelope that names what they belong to. An unmarked one belongs to the reasoning itself.
 */
export type SignatureOwner = { kind: 'thinking' } | { kind: 'redacted' } | { kind: 'text' } | { kind: 'call'; callId: string };

// Envelopes and vendors' signatures are base64: neither contains a colon.
const marked = /^(redacted|text|call:[\s\S]*):([^:]*)$/;

export function markSignature(sealed: string, owner: SignatureOwner): string {
  if (owner.kind === 'thinking') return sealed;
  return owner.kind === 'call' ? `call:${owner.callId}:${sealed}` : `${owner.kind}:${sealed}`;
}

export function readSignature(encrypted: string): { owner: SignatureOwner; sealed: string } {
  const match = encrypted.includes(':') ? marked.exec(encrypted) : null;
  if (!match) return { owner: { kind: 'thinking' }, sealed: encrypted };
  const mark = match[1] ?? '';
  const sealed = match[2] ?? '';
  if (mark === 'redacted' || mark === 'text') return { owner: { kind: mark }, sealed };
  return { owner: { kind: 'call', callId: mark.slice('call:'.length) }, sealed };
}
