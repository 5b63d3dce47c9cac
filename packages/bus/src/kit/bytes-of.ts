/** Bytes as they are, or those that a text stands for: one for each character. */
export const bytesOf = (bytes: Uint8Array | string): Uint8Array => (typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
