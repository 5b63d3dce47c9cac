/** Codes of closes that stand for what happened, and may not be sent: an ordinary one says it to the other side. */
export const localCodes: ReadonlySet<number> = new Set([1004, 1006, 1015]);
