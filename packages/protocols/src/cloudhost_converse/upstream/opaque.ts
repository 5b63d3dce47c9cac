/**
 * Opaque thinking is a base64 blob on this wire: its bytes are the same text that the messages protocol has as `data` (seen in recordings), so that
 * Converse and InvokeModel accept each other's blocks.
 */

/** Several pieces of a stream are one blob. Bytes beyond ASCII survive as one character each. */
export const readOpaque = (pieces: readonly string[]): string => Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64'))).toString('latin1');

export const writeOpaque = (data: string): string => Buffer.from(data, 'latin1').toString('base64');
