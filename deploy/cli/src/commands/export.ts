/** `model-gateway export`: the whole configuration as YAML, secrets sealed. */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ConfigError } from '@model-gateway/config';
import { createApiClient } from './api-client.ts';
import { describeRefusal } from './refusal.ts';

export async function exportAll(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      output: { type: 'string', short: 'o' },
      url: { type: 'string' },
      format: { type: 'string', default: 'yaml' },
      'lost-secrets': { type: 'string', default: 'refuse' },
    },
  });
  if (values.format !== 'yaml' && values.format !== 'json') throw new ConfigError(`--format "${values.format}" is not known; accepted: yaml, json`);
  const lost = values['lost-secrets'];
  if (lost !== 'refuse' && lost !== 'mask') throw new ConfigError(`--lost-secrets "${lost}" is not known; accepted: refuse, mask`);
  const { status, text } = await createApiClient(values.url, env).call('GET', `/export?format=${values.format}${lost === 'mask' ? '&lost_secrets=mask' : ''}`);
  if (status !== 200) throw new ConfigError(describeRefusal('the export', { status, text }));
  if (values.output === undefined) process.stdout.write(text);
  else write(values.output, text);
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600 });
  } catch (cause) {
    throw new ConfigError(`-o "${file}" cannot be written (${(cause as NodeJS.ErrnoException).code}); accepted: a file that may be written`, { cause });
  }
}
