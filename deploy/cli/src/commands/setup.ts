/** `model-gateway setup <client>`: how a client is pointed here, printed or written into its files, and checked by one call. */
import { parseArgs } from 'node:util';
import { clients, type FileStep, findClient, printStep, type SetupFacts, type SetupStep } from '@model-gateway/client-setup';
import { ConfigError, loadConfig } from '@model-gateway/config';
import { ownAddress } from '../own-address.ts';
import { checkCall, hasTools, listModels } from '../setup/check-call.ts';
import { type WrittenFile, writeClientFiles } from '../setup/merge-file.ts';
import { setOnBreak } from '../setup/set-on-break.ts';

const keyVariable = 'MODEL_GATEWAY_KEY';

export async function setup(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      'base-url': { type: 'string' },
      key: { type: 'string' },
      model: { type: 'string' },
      write: { type: 'boolean', default: false },
      'no-check': { type: 'boolean', default: false },
    },
  });
  const [id] = positionals;
  if (id === undefined) return void process.stdout.write(`model-gateway setup CLIENT, where CLIENT is one of:\n${listClients()}`);
  const client = findClient(id);
  if (!client) throw new ConfigError(`"${id}" is not a client known here; accepted:\n${listClients()}`);
  const key = values.key ?? env[keyVariable];
  if (!key) throw new ConfigError(`--key is missing; accepted: an access key of the gateway, also as ${keyVariable}`);
  const baseUrl = readBaseUrl(values['base-url'] ?? ownAddress(loadConfig({ env }).edge));
  const chosen = await chooseModel(values.model, baseUrl, key, values['no-check']);
  const tools = !values['no-check'] && client.group === 'agent' && (await hasTools({ baseUrl, key }));
  const facts = { baseUrl, key, ...chosen, tools } satisfies SetupFacts;
  // Checked before anything is written: a client that works is not pointed at something that does not.
  const checked = values['no-check'] ? null : await checkCall(client.dialect, facts);
  const steps = client.steps(facts);
  if (values.write) for (const file of writeClientFiles(steps.filter(isFile))) process.stdout.write(written(file));
  for (const step of steps) if (!values.write || !isFile(step)) process.stdout.write(`${printed(step)}\n`);
  if (client.note) process.stdout.write(`${client.note.en}\n`);
  if (client.retriesBrokenStreams) process.stdout.write(`${await setOnBreak({ client: client.name, baseUrl, key, write: values.write, env })}\n`);
  if (checked !== null) process.stdout.write(`${checked}\n`);
}

const listClients = (): string => clients.map(({ id, name }) => `  ${id.padEnd(18)} ${name}\n`).join('');

function missingModel(): never {
  throw new ConfigError('--model is missing; accepted: the name of a model that the key may use');
}

/** The model that was asked for, or the first that the key may use, with what the gateway knows of its size. */
async function chooseModel(asked: string | undefined, baseUrl: string, key: string, offline: boolean): Promise<Pick<SetupFacts, 'model' | 'limits'>> {
  if (offline) return { model: asked ?? missingModel() };
  const models = await listModels({ baseUrl, key });
  const found = asked === undefined ? models[0] : models.find(({ name }) => name === asked);
  if (found) return { model: found.name, limits: found.limits };
  // A hidden name works though it is not listed: the checking call tells.
  if (asked !== undefined) return { model: asked };
  throw new ConfigError('the key may use no model; accepted: a key whose group grants one');
}

/** The clients add their own version segment. */
function readBaseUrl(text: string): string {
  const base = text.replace(/\/+$/, '').replace(/\/v1(?:beta)?$/, '');
  const url = URL.canParse(base) ? new URL(base) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username)
    throw new ConfigError(`--base-url "${text}" is not an address; accepted: http(s)://host[:port]`);
  return base;
}

const isFile = (step: SetupStep): step is FileStep => step.kind === 'file';

const written = ({ path, backup }: WrittenFile): string => `Wrote ${path}${backup === null ? '' : ` (before, with its comments: ${backup})`}\n`;

const headings: { [K in SetupStep['kind']]: (step: Extract<SetupStep, { kind: K }>) => string } = {
  file: ({ path }) => `# ${path}`,
  environment: () => '# environment',
  command: () => '# run',
  code: ({ install }) => `# ${install}`,
  fields: ({ place }) => `# ${place}`,
};

const printed = (step: SetupStep): string => `${(headings[step.kind] as (step: SetupStep) => string)(step)}\n${printStep(step)}\n`;
