/** Merges a client's settings into its configuration file: other content is kept, and the old file is saved beside it. */
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { type FileStep, printFile, type Value, type Values } from '@model-gateway/client-setup';
import { ConfigError } from '@model-gateway/config';
import { parse as parseToml, stringify as printToml } from 'smol-toml';
import { parse as parseYaml, stringify as printYaml } from 'yaml';
import { readJson } from './read-json.ts';

interface Format {
  read: (text: string) => unknown;
  print: (values: Values) => string;
}

/** `.env` files are kept line by line. */
const formats: Readonly<Record<Exclude<FileStep['format'], 'env'>, Format>> = {
  json: { read: readJson, print: (values) => `${JSON.stringify(values, null, 2)}\n` },
  toml: { read: (text) => parseToml(text), print: (values) => `${printToml(values as Parameters<typeof printToml>[0])}\n` },
  yaml: { read: (text) => parseYaml(text), print: (values) => printYaml(values) },
};

/** A file that was written, and the copy of its old content. */
export interface WrittenFile {
  path: string;
  /** Copy of what stood there before; null when there was nothing. */
  backup: string | null;
}

const below = (path: string, home: string): string => join(home, path.slice(2));

/** The file to write: the one whose settings win in the client, where it is there. */
export function placeOf({ path, winner }: FileStep, home: string = homedir()): string {
  const winning = winner === undefined ? undefined : below(winner, home);
  return winning !== undefined && existsSync(winning) ? winning : below(path, home);
}

/** Writes all files, or none: throws ConfigError when a present one cannot be read as what it should be. */
export function writeClientFiles(steps: readonly FileStep[], home?: string): WrittenFile[] {
  const planned = steps.map((step) => {
    const path = placeOf(step, home);
    const present = existsSync(path) ? readFileSync(path, 'utf8') : null;
    return { path, present, text: mergeText(step, present, path) };
  });
  return planned.map(({ path, present, text }) => {
    mkdirSync(dirname(path), { recursive: true });
    const backup = present === null || present === text ? null : `${path}.before-model-gateway`;
    // The first state is the one that is wanted back: later runs keep it.
    if (backup !== null && !existsSync(backup)) copyFileSync(path, backup);
    // It holds a key, and a mode is given to new files alone.
    if (present !== null) chmodSync(path, 0o600);
    writeFileSync(path, text, { mode: 0o600 });
    return { path, backup };
  });
}

export function mergeText(step: FileStep, present: string | null, path: string): string {
  if (step.format === 'env') return mergeLines(present ?? '', step);
  const { read, print } = formats[step.format];
  if (present === null || present.trim() === '') return print(step.values);
  let stored: unknown;
  try {
    stored = read(present);
  } catch (cause) {
    throw new ConfigError(`${path} is not ${step.format.toUpperCase()}; accepted: a file that parses, or run without --write and copy the settings`, {
      cause,
    });
  }
  if (!isValues(stored)) throw new ConfigError(`${path} does not hold a table of settings; accepted: a file that does`);
  const own = stored;
  const wanted = Object.fromEntries(Object.entries(step.values).filter(([name]) => !(step.keeps?.includes(name) && Object.hasOwn(own, name))));
  const merged = merge(own, wanted);
  return print((step.ofModel ?? []).reduce((kept, way) => (has(step.values, way) ? kept : without(kept, way)), merged));
}

const isValues = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

function merge(stored: Values, wanted: Values): Values {
  const merged: Record<string, Value> = { ...stored };
  for (const [name, value] of Object.entries(wanted)) {
    const before = Object.hasOwn(stored, name) ? stored[name] : undefined;
    if (isValues(before) && isValues(value)) merged[name] = merge(before, value);
    else if (Array.isArray(before) && Array.isArray(value)) merged[name] = mergeLists(before, value);
    else merged[name] = value;
  }
  return merged;
}

function has(values: Values, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined || !Object.hasOwn(values, name)) return false;
  const value = values[name];
  return rest.length === 0 || (isValues(value) && has(value, rest));
}

function without(values: Values, [name, ...rest]: readonly string[]): Values {
  if (name === undefined || !Object.hasOwn(values, name)) return values;
  const { [name]: value, ...others } = values;
  if (rest.length === 0) return others;
  // In its place: the file stays as it is where nothing is taken out.
  return isValues(value) ? { ...values, [name]: without(value, rest) } : values;
}

const nameOf = (value: Value): Value | undefined => (isValues(value) ? value['name'] : value);

/** Entries of the same name are replaced, others stay. */
function mergeLists(stored: readonly Value[], wanted: readonly Value[]): Value[] {
  const names = new Set(wanted.map(nameOf));
  return [...stored.filter((value) => !names.has(nameOf(value))), ...wanted];
}

function mergeLines(present: string, step: FileStep): string {
  const names = new Set(Object.keys(step.values));
  const kept = present.split(/\r?\n/).filter((line) => !names.has(/^\s*(?:export\s+)?(\w+)\s*=/.exec(line)?.[1] ?? ''));
  while (kept.at(-1) === '') kept.pop();
  return `${[...kept, printFile(step)].join('\n')}\n`;
}
