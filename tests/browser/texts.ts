/** The console's texts as their files hold them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../services/console/web/src/i18n');

export const languages = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
export const areasOf = (language: string): string[] => readdirSync(join(folder, language)).sort();

function flatten(value: unknown, path: string[] = []): [string, string][] {
  if (typeof value === 'string') return [[path.join('.'), value]];
  return Object.entries(value as Record<string, unknown>).flatMap(([name, child]) => flatten(child, [...path, name]));
}

/** Key and text of each entry of a file. */
export const readTexts = (language: string, area: string): [string, string][] => flatten(JSON.parse(readFileSync(join(folder, language, area), 'utf8')));

/** Keys that no reader would take for words: with a dot, or a capital inside. */
export const keyLikeTexts = (): ReadonlySet<string> =>
  new Set(areasOf('en').flatMap((area) => readTexts('en', area).flatMap(([key]) => (/[.]|[a-z][A-Z]/.test(key) ? [key] : []))));
