/** The opaque envelope around thinking signatures. */
export type { SignatureClaims } from './claims.ts';
export { envelopePrefix, isEnvelope, lastOwner, ownerOf } from './envelope.ts';
export type { EnvelopeKey } from './keys.ts';
export { accountOf, ownerTag } from './owner.ts';
export * from './seal.ts';
