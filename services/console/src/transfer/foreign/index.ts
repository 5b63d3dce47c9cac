/** Configurations of other gateways, converted. */
import { parse as parseYaml } from 'yaml';
import { type Converted, isNode } from './findings.ts';
import { convertLitellm } from './litellm.ts';
import { convertNewApi } from './new-api.ts';

export type { Converted, Finding } from './findings.ts';

/** one-api and new-api have the same tables, the latter more columns. */
export const foreignSources = ['litellm', 'new-api', 'one-api'] as const;
export type ForeignSource = (typeof foreignSources)[number];

/** Text that is no configuration of the source. */
export class UnreadableSource extends Error {
  override readonly name = 'UnreadableSource';
}

/** `text`: YAML of LiteLLM, or the tables of new-api or one-api as JSON. Throws `UnreadableSource`, in words that quote nothing of it. */
export function convertForeign(source: ForeignSource, text: string): Converted {
  let parsed: unknown;
  try {
    parsed = parseYaml(text, { maxAliasCount: 100, uniqueKeys: true, logLevel: 'error' });
  } catch {
    throw new UnreadableSource('is neither YAML nor JSON');
  }
  if (!isNode(parsed))
    throw new UnreadableSource(source === 'litellm' ? 'is no config.yaml: it holds no settings' : 'is no export: it must be {"channels": […], "tokens": […]}');
  return source === 'litellm' ? convertLitellm(parsed) : convertNewApi(parsed);
}
