/** The shape of one row of the table of variables. */
import type { Parser } from './parsers.ts';

/** One setting: its names, its parser, its default and its documentation. */
export interface Variable<T> {
  readonly kind: 'variable';
  /** Name in the environment, or `null` when only the TOML file sets it. */
  readonly env: string | null;
  /** Dotted path in the TOML file, or `null` when only the environment sets it. */
  readonly toml: string | null;
  readonly parser: Parser<unknown>;
  readonly fallback: T;
  /** How the default reads in the documentation. */
  readonly shown: string;
  /** Never shown in an error, refused on the command line. */
  readonly secret: boolean;
  /** An empty value is a fault rather than "not set". */
  readonly refuseEmpty: boolean;
  /** One sentence for an operator. */
  readonly description: string;
}

interface Options<T> {
  env?: string;
  toml?: string;
  fallback: T;
  shown?: string;
  secret?: boolean;
  refuseEmpty?: boolean;
  description: string;
}

/** Makes a row. Numbers and booleans may come from either source; the environment wins. */
export function variable<P, T>(parser: Parser<P>, options: Options<T>): Variable<P | T> {
  const { env = null, toml = null, fallback, secret = false, refuseEmpty = false, description } = options;
  const shown = options.shown ?? (fallback === null ? '' : String(fallback));
  return { kind: 'variable', env, toml, parser, fallback, shown, secret, refuseEmpty, description };
}
