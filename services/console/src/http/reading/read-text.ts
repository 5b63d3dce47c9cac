/** The bytes of a body → its value, checked as far as needs no schema. Runs in a thread of its own for all that may take long. */
import { Problem } from '../../problem.ts';
import { assertPlainJson, type PlainLimits } from '../../validation/plain-json.ts';
import { parseYaml } from './parse-yaml.ts';

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

/** A resource's largest lists have 10,000 entries; the rest tells by the schema's own words what is too long. */
const resourceLimits: PlainLimits = { listLength: 12_000, values: 100_000 };
const sectionLimits: PlainLimits = { listLength: 1_000_000, values: 2_000_000, sectionEntry: resourceLimits };

/** Throws the Problem of a body that cannot be taken. Never quotes it: it may hold secrets. */
export function readText({ bytes, charset, yaml, sections }: BodyText): unknown {
  const text = new TextDecoder(charset).decode(bytes);
  const value = yaml ? parseYaml(text, yamlLimit) : readJson(text);
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
