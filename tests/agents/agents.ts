/** The command-line agents under test: how each is installed, pointed at a gateway, and told a task without a person. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findClient, type ModelLimits, printStep } from '@model-gateway/client-setup';

export interface Place {
  /** Folder the agent works in, and the one it takes for the user's home. */
  work: string;
  home: string;
  url: string;
  key: string;
  model: string;
  prompt: string;
}

export interface Agent {
  name: string;
  package: string;
  version: string;
  /** The upstream of `stage.ts` that speaks its protocol and takes what it says, where it is run without a gateway. */
  family: string;
  /** Under Node 24 its session files lose a reply with U+2028 or U+2029 in it, while the results of its calls stay. */
  losesSeparators?: true;
  /** Writes the files it reads; gives its arguments and environment. */
  launch(place: Place): { args: string[]; env: Record<string, string> };
  /** The same for a further prompt in the session that `launch` made. */
  resume(place: Place): { args: string[]; env: Record<string, string> };
}

const writeJson = (file: string, value: unknown): void => writeFileSync(file, JSON.stringify(value));

type Launch = Agent['launch'];

const claude = ({ url, key, model, prompt }: Place, more: readonly string[]): ReturnType<Launch> => ({
  args: ['-p', prompt, ...more, '--dangerously-skip-permissions', '--output-format', 'text'],
  env: {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: key,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_SMALL_FAST_MODEL: model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // It refuses to work without questions as root, unless told that nothing of worth is around.
    IS_SANDBOX: '1',
  },
});

const codex = ({ url, key, model, prompt }: Place, more: readonly string[]): ReturnType<Launch> => ({
  args: [
    ...['exec', ...more, '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'],
    ...['-c', `model_providers.gateway={name="gateway",base_url="${url}/v1",env_key="GATEWAY_KEY",wire_api="responses"}`],
    ...['-c', 'model_provider="gateway"', '-m', model, prompt],
  ],
  env: { GATEWAY_KEY: key },
});

/** Its built-in provider, pointed at the gateway: it opens a WebSocket, and adds to items what it sends to OpenAI alone. */
const codexAsOpenAi = ({ url, key, model, prompt }: Place, more: readonly string[]): ReturnType<Launch> => ({
  args: [
    ...['exec', ...more, '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'],
    ...['-c', `openai_base_url="${url}/v1"`, '-m', model, prompt],
  ],
  env: { CODEX_API_KEY: key },
});

function gemini({ url, key, model, prompt, home }: Place, more: readonly string[]): ReturnType<Launch> {
  mkdirSync(join(home, '.gemini'), { recursive: true });
  writeJson(join(home, '.gemini/settings.json'), { security: { auth: { selectedType: 'gemini-api-key' } } });
  return { args: ['-p', prompt, ...more, '-m', model, '--yolo', '--skip-trust'], env: { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: key } };
}

function opencode({ url, key, model, prompt, work }: Place, more: readonly string[]): ReturnType<Launch> {
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    name: 'gateway',
    options: { baseURL: `${url}/v1`, apiKey: key },
    models: { [model]: { name: model, limit: { context: 200_000, output: 32_000 } } },
  };
  writeJson(join(work, 'opencode.json'), { provider: { gateway: provider }, permission: 'allow' });
  return { args: ['run', ...more, '-m', `gateway/${model}`, prompt], env: {} };
}

/** Writes what `model-gateway setup` of this client writes. */
export function writeSetup(id: string, { home, url, key, model }: Pick<Place, 'home' | 'url' | 'key' | 'model'>, limits: ModelLimits): void {
  for (const step of findClient(id)!.steps({ baseUrl: url, key, model, limits })) {
    if (step.kind !== 'file') continue;
    const file = join(home, step.path.slice(2));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, printStep(step));
  }
}

const size = { context: 200_000, output: 32_000 };

function kimi(place: Place, more: readonly string[]): ReturnType<Launch> {
  writeSetup('kimi-code', place, size);
  return { args: ['-p', place.prompt, ...more], env: {} };
}

function pi(place: Place, more: readonly string[]): ReturnType<Launch> {
  writeSetup('pi', place, size);
  return { args: ['-p', ...more, place.prompt], env: {} };
}

export const agents: readonly Agent[] = [
  {
    name: 'claude',
    package: '@anthropic-ai/claude-code',
    version: '2.1.332',
    family: 'beta',
    launch: (place) => claude(place, []),
    resume: (place) => claude(place, ['--continue']),
  },
  {
    name: 'codex',
    package: '@openai/codex',
    version: '0.171.0',
    family: 'responses',
    launch: (place) => codex(place, []),
    resume: (place) => codex(place, ['resume', '--last']),
  },
  {
    name: 'gemini',
    package: '@google/gemini-cli',
    version: '0.61.0',
    family: 'gamma',
    losesSeparators: true,
    // Each result of a tool is sent twice.
    launch: (place) => gemini(place, []),
    resume: (place) => gemini(place, ['--resume', 'latest']),
  },
  {
    name: 'opencode',
    package: 'opencode-ai',
    version: '1.18.33',
    // It says max_tokens, which newer models of OpenAI refuse.
    family: 'deepseek',
    launch: (place) => opencode(place, []),
    resume: (place) => opencode(place, ['--continue']),
  },
  {
    name: 'kimi',
    package: '@moonshot-ai/kimi-code',
    version: '2.1.0',
    family: 'deepseek',
    launch: (place) => kimi(place, []),
    resume: (place) => kimi(place, ['--continue']),
  },
  {
    name: 'pi',
    package: '@earendil-works/pi-coding-agent',
    version: '1.6.0',
    family: 'deepseek',
    launch: (place) => pi(place, []),
    resume: (place) => pi(place, ['--continue']),
  },
];

const codexAgent = agents.find(({ name }) => name === 'codex')!;

/** Agents, and other ways of pointing one at a gateway. */
export const agentsInEachWay: readonly (readonly [way: string, agent: Agent])[] = [
  ...agents.map((agent) => [agent.name, agent] as const),
  ['codex by openai_base_url', { ...codexAgent, launch: (place) => codexAsOpenAi(place, []), resume: (place) => codexAsOpenAi(place, ['resume', '--last']) }],
];
