/** Steps as text to copy. */
import { stringify as printToml } from 'smol-toml';
import { stringify as printYaml } from 'yaml';
import { literal, shellWord } from './quote.ts';
import type { FileStep, SetupStep, Values } from './setup.ts';

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
  toml: (values) => printToml(values).trimEnd(),
  // Quoted, since readers of YAML 1.1 take a plain `on` or `12:30` for something else; and long values stay on one line.
  yaml: (values) => printYaml(values, { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN', lineWidth: 0 }).trimEnd(),
  // Quoted: dotenv readers take everything between the quotes.
  env: (values) =>
    Object.entries(values)
      .map(([name, value]) => `${name}=${literal(String(value))}`)
      .join('\n'),
};

export const printFile = ({ format, values }: FileStep): string => printers[format](values);
