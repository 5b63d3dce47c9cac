/** What is measured: something with a endpoint for one or more passages, and the processes whose cost it is. */
import type { Dialect } from '../driver/bodies.ts';

/** Which client protocol comes in and which upstream protocol goes out. */
export type Passage =
  | 'same'
  | 'openai-to-anthropic'
  | 'anthropic-to-openai'
  | 'responses'
  | 'responses-to-openai'
  | 'embeddings'
  | 'embeddings-batch'
  | 'speech'
  | 'in-turn';

export interface Caller {
  headers: Record<string, string>;
  model: string;
}

export interface Endpoint extends Caller {
  url: string;
  /** Those who ask in turn; absent: the one. */
  callers?: readonly Caller[];
  /** Whether the server is asked to keep the reply, where that can be asked for. */
  store?: boolean;
}

export interface Target {
  name: TargetName;
  endpoints: Partial<Record<Passage, Endpoint>>;
  pids: readonly number[];
  /** How many of the streams that are held open beside a load have ended. */
  lost?(): number;
  stop(): Promise<void>;
}

export const targetNames = [
  'direct',
  'raw',
  'dist',
  'embedded',
  'split',
  'data-plane',
  'portkey',
  'llms',
  'tensorzero',
  'embedded-probed',
  'raw-probed',
  'embedded-stored',
  'split-stored',
  'raw-one',
  'raw-two',
  'workers-one',
  'workers-two',
  'few',
  'many-keys',
  'many-streams',
] as const;
export type TargetName = (typeof targetNames)[number];

/** Starts a target in front of the mock upstream; `scratch` is a folder of its own that is removed after the run. */
export type StartTarget = (upstream: string, scratch: string) => Promise<Target>;

export const dialectOf: Record<Passage, Dialect> = {
  same: 'openai',
  'openai-to-anthropic': 'openai',
  'anthropic-to-openai': 'anthropic',
  responses: 'responses',
  'responses-to-openai': 'responses',
  embeddings: 'embeddings',
  'embeddings-batch': 'embeddings-batch',
  speech: 'speech',
  'in-turn': 'openai',
};
export const pathOf: Record<Dialect, string> = {
  openai: '/v1/chat/completions',
  anthropic: '/v1/messages',
  responses: '/v1/responses',
  embeddings: '/v1/embeddings',
  'embeddings-batch': '/v1/embeddings',
  speech: '/v1/audio/speech',
};

/** Endpoints of something that forwards whatever comes: each passage is answered by the mock in the client's own protocol. */
export function plainEndpoints(base: string): Record<Exclude<Passage, 'in-turn'>, Endpoint> {
  const endpoint = (dialect: Dialect): Endpoint => ({
    url: base + pathOf[dialect],
    headers: { authorization: 'Bearer sk-mock' },
    model: dialect === 'anthropic' ? 'claude-sonnet-4-5' : 'gpt-4o',
  });
  return {
    same: endpoint('openai'),
    'openai-to-anthropic': endpoint('openai'),
    'anthropic-to-openai': endpoint('anthropic'),
    responses: endpoint('responses'),
    'responses-to-openai': endpoint('responses'),
    embeddings: endpoint('embeddings'),
    'embeddings-batch': endpoint('embeddings-batch'),
    speech: endpoint('speech'),
  };
}
