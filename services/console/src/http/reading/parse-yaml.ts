/** YAML → its value, in a time that grows with the text alone: what costs the parser its square is checked here, or refused with a reason. */
import { type Document, isAlias, isMap, isScalar, type Pair, parseDocument, type Scalar, visit } from 'yaml';
import { Problem } from '../../problem.ts';
import { yamlDepth } from './yaml-depth.ts';

/** As deep as any value may be, and what a block's and a flow's own brackets add. */
const deepest = 256;
/** Of one anchor: aliases can multiply a small document into a large value. */
const aliasesOfAnchor = 100;
/** Anchors and aliases together: each alias is searched for among all anchors before it. */
const maxAnchors = 5_000;

/** Where it is, in words of our own: the parser's quote the document, which may hold secrets. */
function notYaml(text: string, offset: number | undefined): Problem {
  if (offset === undefined) return new Problem('invalid_json', 'The request body is not valid YAML.');
  const { line, column } = placeOf(text, offset);
  return new Problem('invalid_json', `The request body is not valid YAML (line ${line}, column ${column}).`);
}

function repeatedKey(text: string, offset: number): Problem {
  const { line, column } = placeOf(text, offset);
  return new Problem('invalid_json', `A key of the YAML is given twice (line ${line}, column ${column}).`);
}

function placeOf(text: string, offset: number): { line: number; column: number } {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}

/** One document of YAML or JSON. `maxBytes`: bytes of one that is not JSON. Throws the Problem of one that is not read. */
export function parseYaml(text: string, maxBytes = Number.POSITIVE_INFINITY): unknown {
  // A file of JSON is YAML too, and is read in a hundredth of the time.
  if (/^\s*[{[]/.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      // A flow of YAML then.
    }
  }
  if (Buffer.byteLength(text) > maxBytes)
    throw new Problem('payload_too_large', `A body of YAML may have ${maxBytes} bytes: send a longer one as JSON, as \`model-gateway apply\` does.`);
  if (yamlDepth(text) > deepest) throw new Problem('validation_failed', `The body is nested more than ${deepest} levels deep.`);
  let document: Document;
  try {
    // Keys are compared below: the parser compares each with each. Its messages, which quote, would be made for each of its errors.
    document = parseDocument(text, { uniqueKeys: false, prettyErrors: false, logLevel: 'error' });
  } catch {
    throw notYaml(text, undefined);
  }
  if (document.errors.length > 0) throw notYaml(text, document.errors[0]?.pos[0]);
  checkNodes(document, text);
  try {
    return document.toJS({ maxAliasCount: aliasesOfAnchor });
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('Excessive alias count'))
      throw new Problem('invalid_json', `An anchor has more than ${aliasesOfAnchor} aliases: write the value out, or send it as JSON.`);
    if (error instanceof Error && error.message.startsWith('Unresolved alias'))
      throw new Problem('invalid_json', 'The request body is not valid YAML: an alias (`*name`) has no anchor before it.');
    throw notYaml(text, undefined);
  }
}

function checkNodes(document: Document, text: string): void {
  let anchors = 0;
  visit(document, {
    Node(_key, node) {
      if ((isAlias(node) || node.anchor !== undefined) && ++anchors > maxAnchors)
        throw new Problem(
          'validation_failed',
          `The body has more than ${maxAnchors} anchors and aliases (\`&name\`, \`*name\`): write values out, or send it as JSON.`,
        );
      const repeated = isMap(node) ? findRepeated(node.items) : undefined;
      if (repeated) throw repeatedKey(text, repeated.range?.[0] ?? 0);
    },
  });
}

function findRepeated(pairs: readonly Pair[]): Scalar | undefined {
  const keys = new Set<unknown>();
  for (const { key } of pairs) {
    if (isAlias(key) || !isScalar(key)) continue;
    if (keys.has(key.value)) return key;
    keys.add(key.value);
  }
  return undefined;
}
