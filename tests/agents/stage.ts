/** The scripted model in front of which agents are put: behind a gateway in either arrangement, and without one, for comparison. */
import type { OnBreak, ProtocolId } from '@model-gateway/contracts';
import { type FakeUpstream, type Play, startFakeUpstream } from '../fake-upstream/index.ts';
import { type Arrangement, startGateway, type TestGateway } from '../support/gateway.ts';
import type { Place } from './agents.ts';

/** An upstream under test: its protocol, and the model whose rules the fake upstream applies. */
export interface Family {
  name: string;
  protocol: ProtocolId;
  model: string;
}

export const families: readonly Family[] = [
  { name: 'openai', protocol: 'alpha', model: 'gpt-5.2' },
  { name: 'deepseek', protocol: 'alpha', model: 'deepseek-v3.2' },
  { name: 'mistral', protocol: 'alpha', model: 'mistral-large-latest' },
  { name: 'responses', protocol: 'alpha_response', model: 'gpt-5.2' },
  { name: 'beta', protocol: 'beta', model: 'claude-opus-4-8' },
  { name: 'gamma', protocol: 'gamma', model: 'gemini-3-pro-preview' },
  { name: 'converse', protocol: 'cloudhost_converse', model: 'anthropic.claude-sonnet-4-5-20250929-v1:0' },
];

/** Spoken by no agent of its own; only stored turns are tried on it. */
export const delta: Family = { name: 'delta', protocol: 'delta', model: 'qwen3-max' };

/** `AGENTS_ARRANGEMENT`: `embedded` (one process) unless it says `split` (services over NATS and PostgreSQL). Throws on any other word. */
export function arrangementOfRun(): Arrangement {
  const word = process.env['AGENTS_ARRANGEMENT'] ?? 'embedded';
  if (word !== 'embedded' && word !== 'split') throw new Error(`AGENTS_ARRANGEMENT is ${word}, not embedded or split`);
  return word;
}

/** Whether `AGENTS_ONLY` (`codex/beta`, `codex`) leaves this agent, or this agent on this upstream, in. */
export function isAskedFor(agent: string, family?: string): boolean {
  const [onlyAgent, onlyFamily] = process.env['AGENTS_ONLY']?.split('/') ?? [];
  return (onlyAgent === undefined || onlyAgent === agent) && (onlyFamily === undefined || family === undefined || onlyFamily === family);
}

/** Where an agent is pointed. */
export type Address = Pick<Place, 'url' | 'key' | 'model'>;

export interface Stage {
  fake: FakeUpstream;
  gateway: TestGateway;
  /** From now on the model says this. */
  play(play: Play): void;
  /** The model `agent` of the gateway, or its other one, is served by this upstream from now on. */
  moveTo(family: Family, model?: 'agent' | 'agent-other'): Promise<void>;
  /** How callers of the gateway are told of a broken stream from now on. */
  onBreak(setting: OnBreak): Promise<void>;
  readonly throughGateway: Address;
  /** The scripted model itself. */
  withoutGateway(family: Family): Address;
  close(): Promise<void>;
}

export async function openStage(): Promise<Stage> {
  let current: Play | undefined;
  const fake = await startFakeUpstream({
    play(body, path) {
      if (!current) throw new Error('no script was set');
      return current(body, path);
    },
  });
  // A short keep-alive, so that silences are long for it.
  const gateway = await startGateway({ arrangement: arrangementOfRun(), env: { STREAMING_KEEPALIVE_SECONDS: '1' } });
  const group = (on_break: OnBreak) => ({ key_groups: [{ name: 'everyone', models: ['*'], on_break }] });
  await gateway.configure({
    upstreams: [...families, delta].map(({ name, protocol }) => ({ name, protocol, base_url: fake.url, api_keys: [{ key: `sk-${name}` }] })),
    models: ['agent', 'agent-other'].map((name) => ({ name, upstream: families[0]!.name, upstream_model_id: `${families[0]!.model}@play` })),
    ...group('auto'),
  });
  return {
    fake,
    gateway,
    play(play) {
      current = play;
    },
    async moveTo({ name, model }, moved = 'agent') {
      const answer = await gateway.console('PATCH', `/models/${moved}`, { upstream: name, upstream_model_id: `${model}@play` });
      if (answer.status !== 200) throw new Error(`the model could not be moved: ${JSON.stringify(answer.body)}`);
    },
    onBreak: (setting) => gateway.configure(group(setting)),
    throughGateway: { url: gateway.url, key: gateway.key, model: 'agent' },
    withoutGateway: ({ model }) => ({ url: fake.url, key: 'sk-direct', model: `${model}@play` }),
    async close() {
      await gateway.stop();
      await fake.close();
    },
  };
}
