/**
 * Whether `text` contains `piece` at offset `at`: `startsWith`, which compiled code evaluates one character at a time, while two texts of equal
 * length are compared eight at a time.
 */
export const matchesAt = (piece: string, text: string, at: number): boolean => text.slice(at, at + piece.length) === piece;
