/** `model-gateway apply -f gateway.yaml`: the same configuration as a file, all or nothing. */
import { readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ConfigError } from '@model-gateway/config';
import { parse as parseYaml } from 'yaml';
import { type ApiClient, createApiClient, isAway, NoAnswerError } from './api-client.ts';
import { applyChanges } from './apply-changes.ts';
import { type ImportAnswer, printDiff } from './print-diff.ts';
import { resolveReferences } from './references.ts';
import { describeRefusal } from './refusal.ts';

/** How often a watched file is looked at, in ms. */
const lookMs = 500;

export async function apply(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      file: { type: 'string', short: 'f' },
      url: { type: 'string' },
      'dry-run': { type: 'boolean', default: false },
      watch: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  if (values.file === undefined) throw new ConfigError('-f is missing; accepted: the path of a configuration file (the format of `export`)');
  const { file } = values;
  if (values.watch && file === '-') throw new ConfigError('--watch is for a file, and -f is "-"; accepted: the path of a file');
  const client = createApiClient(values.url, env);
  const once = (): Promise<void> => applyFile(client, file, { dryRun: values['dry-run'], json: values.json, env });
  if (!values.watch) return once();
  await applyChanges({ version: () => versionOf(file), apply: once, rest: () => sleep(lookMs), report: (text) => void process.stderr.write(`${text}\n`) });
}

/** Identifies the file that the path names now, and its version; empty when it cannot be inspected (the reader reports why). */
function versionOf(file: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(file);
    return `${ino} ${size} ${mtimeMs}`;
  } catch {
    return '';
  }
}

async function applyFile(client: ApiClient, file: string, options: Omit<ApplyOptions, 'file'>): Promise<void> {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (cause) {
    throw new ConfigError(`-f "${file}" cannot be read (${(cause as NodeJS.ErrnoException).code}); accepted: a readable file`, { cause });
  }
  await applyText(client, text, { file, ...options });
}

/** How a text is applied. */
interface ApplyOptions {
  /** Where it came from, in messages. */
  file: string;
  dryRun: boolean;
  /** Whether the answer is printed as it is. */
  json: boolean;
  env: NodeJS.ProcessEnv;
}

/** Applies a configuration and prints what changed. Throws `ConfigError` where it is refused. */
export async function applyText(client: ApiClient, text: string, { file, dryRun, json, env }: ApplyOptions): Promise<void> {
  const { body, type } = bodyOf(resolveReferences(text, env));
  const { status, text: answer } = await client.call('POST', `/import${dryRun ? '?dry_run=true' : ''}`, body, type);
  if (status >= 300) throw new (isAway(status) ? NoAnswerError : ConfigError)(describeRefusal(file, { status, text: answer }));
  process.stdout.write(json ? `${answer}\n` : printDiff(JSON.parse(answer) as ImportAnswer));
}

/** The console takes long files as JSON alone, which costs it less to read. */
const longYaml = 1024 * 1024;
const yamlAliases = 100;

function bodyOf(yaml: string): { body: string; type: string } {
  if (Buffer.byteLength(yaml) <= longYaml) return { body: yaml, type: 'application/yaml' };
  return { body: JSON.stringify(parseYaml(yaml, { maxAliasCount: yamlAliases, uniqueKeys: true, logLevel: 'error' })), type: 'application/json' };
}
