/** Copies for the strict mode of tests: what would not survive a real bus, or is changed after it was sent, shows up here. */

/** A frozen copy through JSON, as the wire would make it. */
export function strictCopy<T>(value: T): T {
  return value === undefined ? value : deepFreeze(JSON.parse(JSON.stringify(value)));
}

export const strictBytes = (bytes: Uint8Array): Uint8Array => bytes.slice();

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}
