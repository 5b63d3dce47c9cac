/**
 * Readable reasoning that travels where a proof would: some vendors demand it back, and some callers' protocols have no place for it that their
 * clients return (field-notes §1.15). It is sealed like a proof, so only the upstream it came from ever gets it.
 */
/** Fifteen bytes: their base64 is the beginning of the whole text's. */
const mark = 'reasoning-text:';
const beginning = Buffer.from(mark, 'latin1').toString('base64');

/** Base64, as proofs are. */
export const packReasoning = (text: string): string => Buffer.from(mark + text, 'utf8').toString('base64');

/** The reasoning in an opened proof, or null when it is a vendor's own proof. */
export const unpackReasoning = (opened: string): string | null =>
  opened.startsWith(beginning) ? Buffer.from(opened.slice(beginning.length), 'base64').toString('utf8') : null;
