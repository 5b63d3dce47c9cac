/** What every JavaScript program here shares: where it is pointed, its tools, the conversation kept between runs, and the person who says "Go on." */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const { AGENT_URL: url, AGENT_KEY: key, AGENT_MODEL: model, AGENT_PROMPT: prompt, AGENT_RESUME: resume, HOME: home } = process.env;

export { key, model, url };
export const instructions = 'You are a coding agent. Work with the tools until all is done, then report.';
/** Most turns of one run; the SDKs' own limits are far lower. */
export const maxTurns = 60;
/** Of a conversation, where a person says something new in each. */
export const turns = 10;
/** In the middle of a conversation another vendor's model answers. */
export const modelOf = (turn) => (turn > 3 && turn < 7 ? `${model}-other` : model);

const object = (properties) => ({ type: 'object', properties, required: Object.keys(properties), additionalProperties: false });
const text = (description) => ({ type: 'string', description });

/** A picture is `{ image }`, base64 of a PNG. A command that fails throws: how an error is told to the model is the SDK's business. */
export const tools = [
  {
    name: 'read_file',
    description: 'Reads a file',
    schema: object({ path: text('Path of the file') }),
    run({ path }) {
      const bytes = readFileSync(path);
      return path.endsWith('.png') ? { image: bytes.toString('base64') } : bytes.toString();
    },
  },
  {
    name: 'write_file',
    description: 'Writes a file',
    schema: object({ path: text('Path of the file'), content: text('All of its text') }),
    run({ path, content }) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      return 'written';
    },
  },
  {
    name: 'bash',
    description: 'Runs a command',
    schema: object({ command: text('Command for bash') }),
    run({ command }) {
      const { status, stdout, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8' });
      if (status !== 0) throw new Error(`exit ${status}: ${stdout}${stderr}`);
      return stdout || '(no output)';
    },
  },
];

/** For SDKs whose tools give text alone. */
export const textOf = (result) => (typeof result === 'string' ? result : `a PNG of ${result.image.length} characters`);

/** For SDKs that let a tool's error end the run: it is told to the model as text. */
export function textOrError(run, args) {
  try {
    return textOf(run(args));
  } catch (error) {
    return error.message;
  }
}

const file = join(home, 'conversation.json');
/** What `keep` was given by the run before; null: this is the first. */
export const kept = () => (resume === '1' && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null);
export const keep = (conversation) => writeFileSync(file, JSON.stringify(conversation));

/**
 * `turn(words)` runs the agent on a user's words until it stops, and gives its last text. A person who sees an error, or a reply that is no report,
 * says "Go on."; each time is printed, since a program that needs none is the better one.
 */
export async function work(turn, { mostInterruptions = 8 } = {}) {
  let words = prompt;
  for (let interruptions = 0; interruptions <= mostInterruptions; interruptions++) {
    const end = await turn(words).catch((error) => ({ error }));
    if (typeof end === 'string' && end.includes('REPORT')) {
      console.log(end);
      process.exit(0);
    }
    const said = typeof end === 'string' ? JSON.stringify(end.slice(-80)) : String(end?.error?.stack ?? end?.error ?? end).replaceAll('\n', ' ');
    console.log(`interrupted: ${said.slice(0, 500)}`);
    words = 'Go on.';
  }
  process.exit(1);
}
