/**
 * What became of each key of another gateway's configuration. A converter takes what it knows; whatever it did not take is reported as unsupported at the
 * end, so that no key is passed over in silence.
 */

/** `exact`: means the same here. `approximate`: nearly. `manual`: something is left for a person to do. `unsupported`: not here. */
export const findingStatuses = ['exact', 'approximate', 'manual', 'unsupported'] as const;
export type FindingStatus = (typeof findingStatuses)[number];

/** One key of the source and what became of it. */
export interface Finding {
  /** As in `model_list[0].litellm_params.model`. */
  source_path: string;
  status: FindingStatus;
  message: string;
}

/** A configuration file of this gateway, and what became of each key of the source. */
export interface Converted {
  file: Record<string, unknown>;
  findings: Finding[];
}

export type Node = Record<string, unknown>;
export const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);
const isPlainList = (value: unknown): boolean => Array.isArray(value) && !value.some((item) => typeof item === 'object' && item !== null);

const join = (path: string, key: string | number): string =>
  typeof key === 'number' ? `${path}[${key}]` : path === '' ? key : /^[\w-]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;

interface Leaf {
  path: string;
  value: unknown;
}

/** Everything that has a value of its own; lists of plain values are one. */
function leavesOf(value: unknown, path: string): Leaf[] {
  const children: [string | number, unknown][] = isNode(value)
    ? Object.entries(value)
    : Array.isArray(value) && !isPlainList(value)
      ? [...value.entries()]
      : [];
  if (children.length === 0) return path === '' ? [] : [{ path, value }];
  return children.flatMap(([key, child]) => leavesOf(child, join(path, key)));
}

/** A place in the source. */
export interface Place {
  readonly path: string;
  /** The key that it is the value of; empty for the source. */
  readonly key: string | number;
  readonly value: unknown;
  /** The value of a key below, not yet reported. */
  at(key: string | number): Place;
  /** Keys below. */
  keys(): string[];
  /** Entries of a list below; none where it is not a list. */
  list(): Place[];
  /** Says what became of it and everything below that nothing was said of yet. Does nothing where the source has no such key. */
  report(status: FindingStatus, message: string): void;
  /** The same, and its value as a text; undefined where it is none. */
  text(status: FindingStatus, message: string): string | undefined;
  number(status: FindingStatus, message: string): number | undefined;
  /** Its value as a number, of which nothing is said yet; undefined where it is none. */
  figure(): number | undefined;
}

export interface Source {
  root: Place;
  /** Everything that was reported, and as unsupported what was not; in the order of the source. */
  findings(): Finding[];
}

const unknown = (path: string, value: unknown): Finding =>
  value === null || value === ''
    ? { source_path: path, status: 'exact', message: 'Empty: nothing was set.' }
    : { source_path: path, status: 'unsupported', message: 'This gateway has no such setting; nothing was made of it.' };

/** `root`: the parsed source. */
export function readSource(root: unknown): Source {
  const found = new Map<string, Finding>();
  const place = (value: unknown, path: string, key: string | number = ''): Place => ({
    path,
    key,
    value,
    at: (inner) =>
      place(
        typeof inner === 'number' ? (value as unknown[] | undefined)?.[inner] : isNode(value) && Object.hasOwn(value, inner) ? value[inner] : undefined,
        join(path, inner),
        inner,
      ),
    keys: () => (isNode(value) ? Object.keys(value) : []),
    list: () => (Array.isArray(value) ? value.map((item, index) => place(item, join(path, index), index)) : []),
    report(status, message) {
      if (value === undefined) return;
      for (const { path: leaf } of leavesOf(value, path)) if (!found.has(leaf)) found.set(leaf, { source_path: leaf, status, message });
    },
    text(status, message) {
      if (typeof value !== 'string' && typeof value !== 'number') return undefined;
      this.report(status, message);
      return String(value);
    },
    number(status, message) {
      const figure = this.figure();
      if (figure !== undefined) this.report(status, message);
      return figure;
    },
    figure() {
      const figure = typeof value === 'number' ? value : typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
      return Number.isFinite(figure) ? figure : undefined;
    },
  });
  return {
    root: place(root, ''),
    findings: () => leavesOf(root, '').map(({ path, value }) => found.get(path) ?? unknown(path, value)),
  };
}

/** Dollars for one token as dollars for a million, as a decimal string with at most six decimals; null for what is not a price. */
export function perMillion(perToken: number | undefined): string | null {
  if (perToken === undefined || perToken < 0 || perToken > 1e6) return null;
  return (Math.round(perToken * 1e12) / 1e6).toFixed(6).replace(/\.?0+$/, '') || '0';
}

/** A name that nothing has yet. */
export function createNames(): (wanted: string) => string {
  const taken = new Set<string>();
  return (wanted) => {
    const plain =
      wanted
        .replaceAll(/[*\p{Cc}\p{Cs}]/gu, '-')
        .trim()
        .slice(0, 190) || 'unnamed';
    let name = plain;
    for (let number = 2; taken.has(name); number++) name = `${plain}-${number}`;
    taken.add(name);
    return name;
  };
}
