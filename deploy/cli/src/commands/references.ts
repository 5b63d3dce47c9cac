/** References to environment variables in a configuration file, so that it need not contain secrets. */
import { randomBytes } from 'node:crypto';
import { ConfigError } from '@model-gateway/config';
import { LineCounter, type Node, parseDocument, Scalar, visit } from 'yaml';

const reference = /\$?\$\{([A-Z_][A-Z0-9_]*)\}/g;
/** Unquoted values that YAML may parse as a boolean or a number. */
const unquoted = /^(?:true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?)$/;

/** Texts in a language of their own, or of nobody's business: JavaScript writes `${NAME}` in its templates. */
const literalFields: ReadonlySet<unknown> = new Set([
  'request_transform_before',
  'request_transform_after',
  'response_transform',
  'request_script',
  'response_script',
  'request_body_rules',
  'description',
]);

/** What a login gave: the gateway that a file came from has it, and another one asks for a login. */
const optionalFields: ReadonlySet<unknown> = new Set(['tokens']);

/**
 * `${NAME}` in the YAML or JSON text stands for the environment variable NAME, and `$${NAME}` for the text `${NAME}`; scripts, body rules and descriptions
 * stay as they are. Gives YAML. Throws `ConfigError` for a variable that is not set, and for a text that is no YAML, in words that quote nothing of either.
 */
export function resolveReferences(text: string, env: NodeJS.ProcessEnv): string {
  const written: string[] = [];
  // A word that stands nowhere in the file may stand anywhere in it, also where braces would end a value.
  const word = `r${randomBytes(12).toString('hex')}x`;
  const place = new RegExp(`${word}(\\d+)x`, 'g');
  const lines = new LineCounter();
  const document = parseDocument(
    text.replace(reference, (whole) => `${word}${written.push(whole) - 1}x`),
    { lineCounter: lines, logLevel: 'error', prettyErrors: false },
  );
  const [fault] = document.errors;
  if (fault)
    throw new ConfigError(`line ${lines.linePos(fault.pos[0]).line} of the file is not valid YAML (${fault.code}); accepted: the format of \`export\``);
  if (written.length === 0) return text;
  const asWritten = (value: string): string => value.replace(place, (_whole, index: string) => written[Number(index)] ?? '');
  const asMeant = (value: string): string => value.replace(place, (_whole, index: string) => meaningOf(written[Number(index)] ?? '', env));
  const asFarAsSet = (value: string): string =>
    value.replace(place, (_whole, index: string) => {
      const text = written[Number(index)] ?? '';
      return text.startsWith('$$') || env[text.slice(2, -1)] !== undefined ? meaningOf(text, env) : text;
    });
  visit(document, {
    Pair(_key, { key, value }) {
      const field = key instanceof Scalar ? key.value : key;
      if (optionalFields.has(field)) {
        visit(value as Node | null, { Scalar: (_at, node) => change(node, asFarAsSet) });
        return visit.SKIP;
      }
      if (!literalFields.has(field)) return undefined;
      visit(value as Node | null, { Scalar: (_at, node) => change(node, asWritten) });
      return visit.SKIP;
    },
    Scalar: (_key, node) => change(node, asMeant),
  });
  try {
    return document.toString({ lineWidth: 0 });
  } catch {
    // The printer's message quotes the name, which an unquoted secret may be.
    throw new ConfigError('an alias (*name) of the file stands for nothing; accepted: the format of `export`');
  }
}

function change(node: Scalar, meaning: (value: string) => string): void {
  if (typeof node.value !== 'string') return;
  const value = meaning(node.value);
  if (value === node.value) return;
  node.value = node.type === Scalar.PLAIN && unquoted.test(value) ? JSON.parse(value) : value;
}

function meaningOf(text: string, env: NodeJS.ProcessEnv): string {
  if (text.startsWith('$$')) return text.slice(1);
  const name = text.slice(2, -1);
  const value = env[name];
  if (value === undefined) throw new ConfigError(`\${${name}} stands in the file, but ${name} is not set ($\${${name}} stands for the text itself)`);
  return value;
}
