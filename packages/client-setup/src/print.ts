/** Steps as text to copy. */
import { literal, shellWord } from './quote.ts';
import type { FileStep, SetupStep, Value, Values } from './setup.ts';

/** A step's text, in the form in which it is pasted. */
export function printStep(step: SetupStep): string {
  switch (step.kind) {
    case 'file':
      return printFile(step);
    case 'environment':
      return printEnvironment(step.variables);
    case 'command':
    case 'code':
      return step.text;
    case 'fields':
      return step.fields.map(([label, value]) => `${label}: ${value}`).join('\n');
  }
}

export const printEnvironment = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}=${shellWord(value)}`)
    .join('\n');

const printers: Readonly<Record<FileStep['format'], (values: Values) => string>> = {
  json: (values) => JSON.stringify(values, null, 2),
  toml: (values) => printToml(values),
  yaml: (values) => printYaml(values, '').trimStart(),
  // Quoted: dotenv readers take everything between the quotes.
  env: (values) =>
    Object.entries(values)
      .map(([name, value]) => `${name}=${literal(String(value))}`)
      .join('\n'),
};

export const printFile = ({ format, values }: FileStep): string => printers[format](values);

const isTable = (value: Value | undefined): value is Values => typeof value === 'object' && !Array.isArray(value);
const tomlKey = (name: string): string => (/^[\w-]+$/.test(name) ? name : literal(name));

function printToml(values: Values, path: readonly string[] = []): string {
  const own = Object.entries(values).filter(([, value]) => !isTable(value));
  const tables = Object.entries(values).filter(([, value]) => isTable(value));
  const lines = own.map(([name, value]) => `${tomlKey(name)} = ${JSON.stringify(value)}`);
  const head = path.length > 0 && own.length > 0 ? [`[${path.map(tomlKey).join('.')}]`] : [];
  const below = tables.map(([name, value]) => printToml(value as Values, [...path, name]));
  return [[...head, ...lines].join('\n'), ...below].filter((text) => text !== '').join('\n\n');
}

function printYaml(value: Value, indent: string): string {
  if (typeof value === 'string') return ` ${literal(value)}`;
  if (typeof value !== 'object') return ` ${value}`;
  const deeper = `${indent}  `;
  if (Array.isArray(value)) return value.map((item: Value) => `\n${indent}-${printYaml(item, deeper).replace(/^\n\s*/, ' ')}`).join('');
  return Object.entries(value as Values)
    .map(([name, item]) => `\n${indent}${name}:${printYaml(item, deeper)}`)
    .join('');
}
