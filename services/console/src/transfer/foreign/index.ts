/** Configurations of other gateways, converted. */
import { parseYaml } from '../../http/reading/parse-yaml.ts';
import { Problem } from '../../problem.ts';
import { type Converted, isNode } from './findings.ts';
import { convertLitellm } from './litellm.ts';
import { isMysqlDump, readMysqlDump } from './mysql-dump.ts';
import { convertNewApi, type NewApiTables } from './new-api.ts';

export type { Converted, Finding } from './findings.ts';

/** one-api and new-api have the same tables, the latter more columns. */
export const foreignSources = ['litellm', 'new-api', 'one-api'] as const;
export type ForeignSource = (typeof foreignSources)[number];

/** Text that is not a configuration of the source. */
export class UnreadableSource extends Error {
  override readonly name = 'UnreadableSource';
}

/** Tables whose rows are read; of all others it is said how many rows they have. */
export const tablesRead: ReadonlySet<string> = new Set(['channels', 'tokens']);
/** A table of keys and values. */
export const settingsTable = 'options';

/** `text`: YAML of LiteLLM, or the tables of new-api or one-api as JSON or as a dump of MySQL. Throws `UnreadableSource`, in words that quote nothing of it. */
export function convertForeign(source: ForeignSource, text: string): Converted {
  if (source !== 'litellm' && isMysqlDump(text)) return convertNewApi(tablesOfDump(text));
  let parsed: unknown;
  try {
    parsed = parseYaml(text);
  } catch (error) {
    throw new UnreadableSource(`is not read: ${error instanceof Problem ? saidOfFile(error.message) : 'It is neither YAML nor JSON.'}`);
  }
  if (!isNode(parsed))
    throw new UnreadableSource(
      source === 'litellm' ? 'is not a config.yaml: it holds no settings' : 'is not an export: it must be {"channels": […], "tokens": […]}',
    );
  return source === 'litellm' ? convertLitellm(parsed) : convertNewApi(parsed);
}

/** What is said of a body that came with a request, of a file that somebody chose. */
const saidOfFile = (message: string): string =>
  message
    .replace('The request body is not valid YAML', 'It is neither valid YAML nor JSON')
    .replace(/^The body /, 'It ')
    .replace('or send it as JSON', 'or save it as JSON');

function tablesOfDump(text: string): NewApiTables {
  try {
    const { [settingsTable]: options, ...tables } = readMysqlDump(text, new Set([...tablesRead, settingsTable]));
    if (!Array.isArray(tables['channels']) && !Array.isArray(tables['tokens'])) throw new SyntaxError('has neither channels nor tokens');
    return { ...tables, ...(Array.isArray(options) && { options: Object.fromEntries(options.map(({ key, value }) => [String(key), value])) }) };
  } catch (error) {
    if (error instanceof SyntaxError) throw new UnreadableSource(error.message);
    throw error;
  }
}
