/** One change to a JSON text: replaces the value at `path`, or removes its key or element when `value` is undefined. */
export interface Edit {
  path: readonly (string | number)[];
  value: unknown;
  /** Add the key to its object when it is not there (object parents only). */
  add?: boolean;
  /** The value is a new element before the one at the end of `path` (array parents only); behind the last one where there is none at that place. */
  insert?: true;
}
