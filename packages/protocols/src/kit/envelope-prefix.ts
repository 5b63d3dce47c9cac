/**
 * How every sealed signature begins: the base64 text of the envelope's six magic bytes (`mgsig1`). Byte searches look for it before a body is parsed.
 * packages/signature-envelope writes the same bytes; a test in tests/ holds the two equal.
 */
export const envelopePrefix = 'bWdzaWcx';
