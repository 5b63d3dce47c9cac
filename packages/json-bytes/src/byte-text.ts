/**
 * Text with one character per UTF-8 byte of another text (Latin-1): one native copy converts it to bytes and back, and code that walks characters
 * then walks bytes.
 */

const nonAscii = /[^\x00-\x7f]/;

export const toByteText = (text: string): string => (nonAscii.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text);
export const fromByteText = (text: string): string => (nonAscii.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text);
