/** The bytes of a body → its value, checked as far as needs no schema. Runs in a thread of its own for all that may take long. */
import { parse as parseYaml, YAMLParseError } from 'yaml';
import { Problem } from '../../problem.ts';
import { assertPlainJson, type PlainLimits } from '../../validation/plain-json.ts';
import { yamlDepth } from './yaml-depth.ts';

/** The bytes of a request body and how to parse them. */
export interface BodyText {
  bytes: Uint8Array;
  charset: string;
  yaml: boolean;
  /** Lists of resources, as imports send them: the lists may be long, their values not. */
  sections: boolean;
}

/** YAML costs a hundred times what JSON does. A file that is longer can be sent as JSON. */
export const yamlLimit = 2 * 1024 * 1024;
/** As deep as any value may be, and what a block's and a flow's own brackets add. */
const deepestYaml = 256;
/** Aliases can multiply a small document into a large value. */
const yamlAliases = 100;

/** A resource's largest lists have 10,000 entries; the rest tells by the schema's own words what is too long. */
const resourceLimits: PlainLimits = { listLength: 12_000, values: 100_000 };
const sectionLimits: PlainLimits = { listLength: 1_000_000, values: 2_000_000, sectionEntry: resourceLimits };

/** Throws the Problem of a body that cannot be taken. Never quotes it: it may hold secrets. */
export function readText({ bytes, charset, yaml, sections }: BodyText): unknown {
  const text = new TextDecoder(charset).decode(bytes);
  const value = yaml ? readYaml(text) : readJson(text);
  assertPlainJson(value, sections ? sectionLimits : resourceLimits);
  return value;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem('invalid_json');
  }
}

function readYaml(text: string): unknown {
  // A file of JSON is YAML too, and is read in a hundredth of the time.
  if (/^\s*\{/.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      // A flow of YAML then.
    }
  }
  if (Buffer.byteLength(text) > yamlLimit)
    throw new Problem('payload_too_large', `A body of YAML may have ${yamlLimit} bytes: send a longer one as JSON, as \`model-gateway apply\` does.`);
  if (yamlDepth(text) > deepestYaml) throw new Problem('validation_failed', `The body is nested more than ${deepestYaml} levels deep.`);
  try {
    return parseYaml(text, { maxAliasCount: yamlAliases, uniqueKeys: true, logLevel: 'error' });
  } catch (error) {
    throw new Problem('invalid_json', yamlFault(error));
  }
}

/** Where it is, in words of our own: the parser's quote the document. */
function yamlFault(error: unknown): string {
  const [at] = (error instanceof YAMLParseError && error.linePos) || [];
  if (!at) return 'The request body is not valid YAML.';
  if ((error as YAMLParseError).code === 'DUPLICATE_KEY') return `A key of the YAML is given twice (line ${at.line}, column ${at.col}).`;
  return `The request body is not valid YAML (line ${at.line}, column ${at.col}).`;
}
