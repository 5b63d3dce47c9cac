/** The SDK agents under test: small programs in `sdk/`, each on one agents' library, installed as their authors would. */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ProtocolId } from '@model-gateway/contracts';
import type { Place } from './agents.ts';
import type { Ended } from './run-agent.ts';

export interface SdkAgent {
  /** `AGENTS_ONLY` knows it by this. */
  name: string;
  /** File in `sdk/`. */
  program: string;
  /** What it needs from its registry. */
  packages: readonly string[];
  /** The library's way of speaking, where a program has several. */
  way: string;
  /** That it speaks. */
  protocol: ProtocolId;
  /** What the library does wrong, with the gateway and without. */
  fault?: Fault;
}

export interface Fault {
  /** Steps that it does not do. */
  missing?: readonly number[];
  /** After an interruption it does the task from its beginning. */
  startsAnew?: true;
  /** Where the library does it. */
  source: string;
}

/** Ways of speaking, by the names that the programs know. */
const protocols = { chat: 'alpha', responses: 'alpha_response', anthropic: 'beta', google: 'gamma' } as const satisfies Record<string, ProtocolId>;

const inWays = (name: string, program: string, packages: readonly string[], ways: readonly (keyof typeof protocols)[]): SdkAgent[] =>
  ways.map((way) => ({ name: ways.length === 1 ? name : `${name}-${way}`, program, packages, way, protocol: protocols[way] }));

/** By the names of agents. Each was seen in a run without the gateway (`AGENTS_CONTROL=1`). */
const faults: Readonly<Record<string, Fault>> = {
  // Of a streamed run that throws, the session is given the prompt, and nothing that was said and done after it.
  'openai-agents-responses': {
    startsAnew: true,
    source: 'https://github.com/openai/openai-agents-js/blob/main/packages/agents-core/src/runner/sessionPersistence.ts',
  },
  // Parallel calls are all ended at the end of the reply, when the second has taken the place of the first, which is step 7.
  'strands-chat': { missing: [7], source: 'https://github.com/strands-agents/sdk-typescript/blob/main/strands-ts/src/models/openai/chat-adapter.ts' },
};

const all = ['responses', 'chat', 'anthropic', 'google'] as const;

const agents: readonly SdkAgent[] = [
  ...inWays('openai-agents', 'openai-agents.mjs', ['@openai/agents@0.20.0', 'zod@4.6.7'], ['responses', 'chat']),
  ...inWays('ai-sdk', 'ai-sdk.mjs', ['ai@7.0.173', '@ai-sdk/openai@4.0.118', '@ai-sdk/anthropic@4.0.105', '@ai-sdk/google@4.0.121', 'zod@4.6.7'], all),
  ...inWays('claude-agent-sdk', 'claude-agent-sdk.mjs', ['@anthropic-ai/claude-agent-sdk@0.3.330', 'zod@4.6.7'], ['anthropic']),
  ...inWays('anthropic-tool-runner', 'anthropic-tool-runner.mjs', ['@anthropic-ai/sdk@1.12.0'], ['anthropic']),
  ...inWays('openai-run-tools', 'openai-run-tools.mjs', ['openai@7.57.0'], ['chat']),
  ...inWays('google-adk', 'google-adk.mjs', ['@google/adk@2.0.0', '@google/genai', 'zod'], ['google']),
  ...inWays(
    'langchain',
    'langchain.mjs',
    ['langchain@1.5.14', '@langchain/core', '@langchain/openai@1.6.0', '@langchain/anthropic@1.5.11', '@langchain/google-genai@2.3.2', 'zod@4.6.7'],
    all,
  ),
  ...inWays('mastra', 'mastra.mjs', ['@mastra/core@1.71.0', '@ai-sdk/openai@4.0.118', '@ai-sdk/anthropic@4.0.105', '@ai-sdk/google@4.0.121', 'zod@4.6.7'], all),
  ...inWays('strands', 'strands.mjs', ['@strands-agents/sdk@1.19.0', 'openai', '@anthropic-ai/sdk', '@google/genai', 'zod'], all),
  ...inWays('anthropic-py', 'anthropic_py.py', ['anthropic==2.12.0'], ['anthropic']),
  ...inWays('openai-agents-py', 'openai_agents_py.py', ['openai-agents==0.24.0'], ['responses', 'chat']),
  ...inWays('pydantic-ai-py', 'pydantic_ai_py.py', ['pydantic-ai-slim[openai,anthropic,google]==2.68.0'], all),
  ...inWays('strands-py', 'strands_py.py', ['strands-agents[openai,anthropic,gemini]==1.62.0'], ['chat', 'anthropic', 'google']),
  ...inWays('langchain-py', 'langchain_py.py', ['langchain==1.4.7', 'langchain-openai', 'langchain-anthropic', 'langchain-google-genai'], all),
];

export const sdkAgents: readonly SdkAgent[] = agents.map((agent) => ({ ...agent, ...(faults[agent.name] && { fault: faults[agent.name] }) }));

const isPython = ({ program }: SdkAgent): boolean => program.endsWith('.py');
const programs = join(import.meta.dirname, 'sdk');

/** Not `spawnSync`: an installation takes minutes, in which the suite would not see the gateway close an idle connection, and would use it afterwards. */
async function run(command: string, args: readonly string[], cwd: string): Promise<void> {
  try {
    await promisify(execFile)(command, args, { cwd, timeout: 600_000 });
  } catch (error) {
    throw new Error(`the agents could not be installed: ${command} ${args.join(' ')}: ${(error as { stderr?: string }).stderr || (error as Error).message}`);
  }
}

/** Whether an installation failed because its registry could not be reached. */
export const isUnreachable = (error: unknown): boolean =>
  /NewConnectionError|ConnectTimeout|ReadTimeout|Name or service not known|Temporary failure in name|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ECONNRESET/.test(
    String((error as Error).message),
  );

/**
 * The folder of this agent's program, with what it needs from the registry: outside the repository and its lockfile, one for each list of packages.
 * `AGENTS_DIR` keeps them between runs. Throws with the words of npm or pip.
 */
export async function installSdkAgent(agent: SdkAgent): Promise<string> {
  const id = createHash('sha256').update(agent.packages.join(' ')).digest('hex').slice(0, 12);
  const folder = join(process.env['AGENTS_DIR'] ?? join(tmpdir(), 'model-gateway-agents'), `${agent.program.replace('.', '-')}-${id}`);
  const done = join(folder, 'installed');
  if (!existsSync(done)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    if (isPython(agent)) {
      await run('python3', ['-m', 'venv', join(folder, 'venv')], folder);
      await run(join(folder, 'venv/bin/pip'), ['install', '--quiet', ...agent.packages], folder);
    } else await run('npm', ['install', '--no-audit', '--no-fund', ...agent.packages], folder);
    writeFileSync(done, '');
  }
  // Modules are looked for from where a program lies.
  for (const file of [agent.program, isPython(agent) ? 'agent_kit.py' : 'agent-kit.mjs']) copyFileSync(join(programs, file), join(folder, file));
  return folder;
}

/** Runs the agent's program on one prompt and waits for its end. */
export async function runSdkAgent(folder: string, agent: SdkAgent, place: Place, { resume, maxMs }: { resume: boolean; maxMs: number }): Promise<Ended> {
  const child = spawn(isPython(agent) ? join(folder, 'venv/bin/python') : process.execPath, [join(folder, agent.program), agent.way], {
    cwd: place.work,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: place.home,
      AGENT_URL: place.url,
      AGENT_KEY: place.key,
      AGENT_MODEL: place.model,
      AGENT_PROMPT: place.prompt,
      AGENT_RESUME: resume ? '1' : '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (printed += bytes));
  const giveUp = setTimeout(() => child.kill('SIGKILL'), maxMs);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  clearTimeout(giveUp);
  return { printed, code };
}
