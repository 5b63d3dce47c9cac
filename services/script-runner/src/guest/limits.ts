/** Fixed bounds of the specification, and the fault that ends a run when one is passed. */

/** Characters. */
export const maxTextLength = 10 * 1024 * 1024;
export const maxElements = 10_000;
export const maxStackDepth = 1024;
/** Characters of everything that a run may give back. */
export const maxResultLength = 64 * 1024 * 1024;

export type LimitName = 'TooManyOperations' | 'StackOverflow' | 'StringTooLong' | 'TooManyElements' | 'ResultTooLarge';

/** A limit was passed: nothing that the script catches or returns changes that. */
export class LimitFault extends Error {
  readonly limit: LimitName;

  constructor(limit: LimitName, message: string) {
    super(message);
    this.limit = limit;
  }
}
