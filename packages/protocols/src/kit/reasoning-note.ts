/**
 * Readable reasoning that travels where a proof would: some vendors demand it back, and some callers' protocols have no place for it that their
 * clients return (field-notes §1.15). It is sealed like a proof, so only the upstream it came from ever gets it.
 */
const mark = 'reasoning-text:';

export const packReasoning = (text: string): string => mark + text;

/** The reasoning in an opened proof, or null when it is a vendor's own proof. */
export const unpackReasoning = (opened: string): string | null => (opened.startsWith(mark) ? opened.slice(mark.length) : null);
