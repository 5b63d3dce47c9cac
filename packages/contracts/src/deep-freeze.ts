/** Freezes a value and everything inside it, and returns it. A part that is already frozen is skipped: its own parts are taken to be frozen too. */
export function deepFreeze<T>(value: T): T {
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const inner of Object.values(next)) pending.push(inner);
  }
  return value;
}
