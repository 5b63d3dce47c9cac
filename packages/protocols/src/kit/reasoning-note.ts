/**
 * Readable reasoning sent in the field of a signature: some vendors demand it back, and some callers' protocols have no field for it that their
 * clients return. It is sealed like a signature, so only the upstream it came from ever gets it.
 */
/** Fifteen bytes: their base64 is the beginning of the whole text's. */
const mark = 'reasoning-text:';
const beginning = Buffer.from(mark, 'latin1').toString('base64');

/** Base64, as signatures are. */
export const packReasoning = (text: string): string => Buffer.from(mark + text, 'utf8').toString('base64');

/** The reasoning in an opened signature, or null when it is a vendor's own signature. */
export const unpackReasoning = (opened: string): string | null =>
  opened.startsWith(beginning) ? Buffer.from(opened.slice(beginning.length), 'base64').toString('utf8') : null;
