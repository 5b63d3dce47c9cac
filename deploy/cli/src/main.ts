#!/usr/bin/env node
/** The command line: `model-gateway up | serve NAME | apply | export | import | login | setup`. */
import { ConfigError } from '@model-gateway/config';
import manifest from '../package.json' with { type: 'json' };

type Command = (args: readonly string[], env: NodeJS.ProcessEnv) => Promise<void>;

/** Each loads what it needs alone. */
const commands: Record<string, () => Promise<Command>> = {
  up: async () => (await import('./commands/up.ts')).up,
  serve: async () => (await import('./commands/serve.ts')).serve,
  worker: async () => (await import('./commands/worker.ts')).worker,
  apply: async () => (await import('./commands/apply.ts')).apply,
  export: async () => (await import('./commands/export.ts')).exportAll,
  import: async () => (await import('./commands/import.ts')).importForeign,
  login: async () => (await import('./commands/login.ts')).login,
  setup: async () => (await import('./commands/setup.ts')).setup,
};

const usage = `model-gateway up [--demo] [--port N]        the whole gateway in one process
              [--workers N|auto]            requests in N processes of their own, behind one port
              [--SETTING VALUE]             any setting of docs/configuration.md but secrets: --data-dir for DATA_DIR
model-gateway serve edge|router|translator|script-runner|mcp-aggregator|stats|console|data-plane
              [--SETTING VALUE]             one service, on NATS_URL; data-plane is edge, router and translator in one process
model-gateway apply -f FILE|- [--dry-run] [--watch] [--json] [--url URL]
                                           apply a file's configuration to a running gateway (every field: docs/gateway-file.md); signs in
                                           with CONSOLE_SECRET_KEY, or as admin with CONSOLE_PASSWORD; URL: http://127.0.0.1:$PORT
model-gateway export [-o FILE] [--format yaml|json] [--lost-secrets refuse|mask] [--url URL]
                                           print the configuration of a running gateway; mask: even if the master key of some secrets is gone
model-gateway import litellm|new-api|one-api FILE [-o FILE] [--findings FILE] [--apply] [--dry-run] [--url URL]
                                           convert another gateway's configuration, and report on each of its keys
model-gateway login [PROFILE] [--name NAME] [--upstream NAME [--base-url URL]] [--account NAME] [--flow device|code|machine] [--set NAME=VALUE]
              [--paste] [--replace] [--qr] [--url URL]
                                           log in at a vendor, and keep the credential for an upstream
model-gateway setup CLIENT [--key KEY] [--model NAME] [--base-url URL] [--write] [--no-check]
                                           configure a client (claude-code, codex, …) to use this gateway
model-gateway help [COMMAND]               this text, or the part about one command
model-gateway --version                    the version of this gateway
`;

const [name = process.env['SERVICE'] && process.env['SERVICE'] !== 'up' ? 'serve' : 'up', ...args] = process.argv.slice(2);
const serves = name.startsWith('-') || name === 'up' || name === 'serve' || name === 'worker';
// A pipe whose reader left (`| head`) is not a failure of ours, and no notice that finds a full disk ends what others are served by.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || serves) return;
    if (stream === process.stdout) process.stderr.write(`the output cannot be written (${error.code})\n`);
    process.exit(1);
  });

if (name === 'help' || name === '--help' || name === '-h') process.stdout.write(usageOf(args[0] ?? '') || usage);
else if (name === '--version') process.stdout.write(`model-gateway ${manifest.version}\n`);
else if (name.startsWith('-')) await run('up', [name, ...args]);
else await run(name, process.argv.length > 2 ? args : [process.env['SERVICE'] ?? ''].filter((service) => service !== '' && service !== 'up'));

/** The lines of the usage that are about a command: those that name it, and what follows each. */
function usageOf(command: string): string {
  const blocks = usage.split(/^(?=model-gateway )/m);
  return blocks.filter((block) => block.startsWith(`model-gateway ${command} `)).join('');
}

async function run(command: string, rest: readonly string[]): Promise<void> {
  const found = Object.hasOwn(commands, command) ? commands[command] : undefined;
  if (!found) {
    process.stderr.write(`"${command}" is not a command.\n${usage}`);
    process.exit(2);
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    process.stdout.write(usageOf(command));
    return;
  }
  try {
    await (await found())(rest, process.env);
  } catch (error) {
    // One line for errors that an operator can fix; a stack trace only for defects.
    process.stderr.write(
      `${error instanceof ConfigError || (error instanceof Error && isPlain(error)) ? error.message : error instanceof Error ? error.stack : String(error)}\n`,
    );
    process.exit(1);
  }
}

/** Errors that already are one clear line: bad options, an address in use. */
function isPlain(error: Error): boolean {
  return error.name === 'ListenError' || ('code' in error && typeof error.code === 'string' && error.code.startsWith('ERR_PARSE_ARGS'));
}
