/**
 * What a page says, in the field that its vendor fills with a token of its own: the caller sends it back, and the model reads it again in the next
 * turn. It is no secret: the caller could have searched for it.
 */
const mark = 'mgw1.';
/** Begins such a token in JSON text: a text without it holds none. */
export const pageTokenStart = `"${mark}`;
const maxLength = 64 * 1024;

export const writePageToken = (text: string): string => mark + Buffer.from(text, 'utf8').toString('base64');

/** null: a vendor's own token. */
export const readPageToken = (token: unknown): string | null =>
  typeof token === 'string' && token.startsWith(mark) && token.length <= maxLength ? Buffer.from(token.slice(mark.length), 'base64').toString('utf8') : null;
