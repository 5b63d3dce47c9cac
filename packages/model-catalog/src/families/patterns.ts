/** Wildcard patterns, split at their stars. */

/** Whether an id fits a pattern that was split at its stars: the pieces in order: the first at the start, the last at the end. Linear, and no expression is built from data. */
export function matchPieces(pieces: readonly string[], id: string): boolean {
  const [first = '', ...rest] = pieces;
  if (!id.startsWith(first)) return false;
  if (rest.length === 0) return id.length === first.length;
  const last = rest.at(-1) ?? '';
  let at = first.length;
  for (const piece of rest.slice(0, -1)) {
    const found = id.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return id.length - last.length >= at && id.endsWith(last);
}
