/** The opaque envelope around thinking signatures. */
export type { SignatureClaims } from './claims.ts';
export { envelopePrefix, isEnvelope } from './envelope.ts';
export type { EnvelopeKey } from './keys.ts';
export * from './seal.ts';
