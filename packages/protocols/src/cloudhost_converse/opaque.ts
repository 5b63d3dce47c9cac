/**
 * Opaque thinking is a blob on this wire, in base64 as all blobs are: its bytes are the very text that the messages wire has as `data` (seen in
 * recordings), so that either of the host's doors takes what the other gave.
 */

/** Several pieces of a stream are one blob. Bytes beyond ASCII survive as one character each. */
export const readOpaque = (pieces: readonly string[]): string => Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64'))).toString('latin1');

export const writeOpaque = (data: string): string => Buffer.from(data, 'latin1').toString('base64');
