/** Text whose characters are the UTF-8 bytes of another: one native copy turns bytes into it and back, and what walks text then walks bytes. */

const nonAscii = /[^\x00-\x7f]/;

export const toByteText = (text: string): string => (nonAscii.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text);
export const fromByteText = (text: string): string => (nonAscii.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text);
