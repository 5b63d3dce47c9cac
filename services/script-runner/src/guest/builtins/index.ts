/** Every built-in by its name. */
import { encodingBuiltins } from './encoding.ts';
import { listBuiltins, objectBuiltins } from './lists.ts';
import { pathBuiltins } from './paths.ts';
import { textBuiltins } from './text.ts';
import { timeBuiltins } from './time.ts';

export const builtins: Readonly<Record<string, (...given: never[]) => unknown>> = {
  ...pathBuiltins,
  ...textBuiltins,
  ...encodingBuiltins,
  ...listBuiltins,
  ...objectBuiltins,
  ...timeBuiltins,
};
