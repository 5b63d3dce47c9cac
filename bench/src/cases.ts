/** The cases: which load is put on which targets, and which verdicts read them. */
import type { Passage, TargetName } from './targets/target.ts';

export interface Case {
  id: CaseId;
  title: string;
  passage: Passage;
  stream: boolean;
  /** Bytes of the request body. */
  size: number;
  connections: number;
  targets: readonly TargetName[];
  /** Part of `--short`. */
  short?: boolean;
  /** Repetitions beside the run's own: single requests scatter most. */
  extraRepetitions?: number;
}

const kib = 1024;
const own: readonly TargetName[] = ['direct', 'raw', 'dist', 'embedded', 'split'];
const withAll: readonly TargetName[] = [...own, 'data-plane', 'portkey', 'tensorzero'];
const withPortkey: readonly TargetName[] = [...own, 'portkey'];
/** The floor on NATS has no parcels: bodies above the server's max_payload are not for it. */
const withoutDist: readonly TargetName[] = ['direct', 'raw', 'embedded', 'split', 'portkey'];
const translated: readonly TargetName[] = ['raw', 'embedded', 'split', 'portkey', 'tensorzero'];
/** A turn that is stored beside the same request with `store: false`. */
const stored: readonly TargetName[] = ['embedded', 'embedded-stored', 'split', 'split-stored'];
const media: readonly TargetName[] = ['direct', 'raw', 'embedded', 'split'];
const base = { passage: 'same', stream: false, size: kib } as const;

const table = {
  'same-c1': { ...base, title: 'same protocol, 1 KB', connections: 1, targets: withPortkey, short: true, extraRepetitions: 2 },
  'same-c16': { ...base, title: 'same protocol, 1 KB', connections: 16, targets: withAll, short: true },
  'same-c64': { ...base, title: 'same protocol, 1 KB', connections: 64, targets: withPortkey },
  'same-c256': { ...base, title: 'same protocol, 1 KB', connections: 256, targets: withPortkey },
  'same-20k': { ...base, title: 'same protocol, 20 KB', size: 20 * kib, connections: 16, targets: withPortkey },
  'same-200k': { ...base, title: 'same protocol, 200 KB', size: 200 * kib, connections: 16, targets: withPortkey, short: true },
  'same-2m': { ...base, title: 'same protocol, 2 MB', size: 2048 * kib, connections: 4, targets: withoutDist },
  'openai-to-anthropic-c16': {
    ...base,
    title: 'OpenAI client, Anthropic upstream, 1 KB',
    passage: 'openai-to-anthropic',
    connections: 16,
    targets: translated,
    short: true,
  },
  'anthropic-to-openai-c16': {
    ...base,
    title: 'Anthropic client, OpenAI upstream, 1 KB',
    passage: 'anthropic-to-openai',
    connections: 16,
    targets: ['raw', 'embedded', 'split', 'llms'],
  },
  'stream-c1': { ...base, title: 'stream, same protocol', stream: true, connections: 1, targets: withPortkey },
  'stream-c16': { ...base, title: 'stream, same protocol', stream: true, connections: 16, targets: withPortkey },
  'stream-c64': { ...base, title: 'stream, same protocol', stream: true, connections: 64, targets: [...withPortkey, 'tensorzero'], short: true },
  'stream-c256': { ...base, title: 'stream, same protocol', stream: true, connections: 256, targets: ['direct', 'raw', 'embedded', 'portkey'] },
  'stream-translated-c64': {
    ...base,
    title: 'stream, OpenAI client, Anthropic upstream',
    passage: 'openai-to-anthropic',
    stream: true,
    connections: 64,
    targets: translated,
  },
  'turn-c1': { ...base, title: 'responses, a turn of 4 KB', passage: 'responses', size: 4 * kib, connections: 1, targets: stored, extraRepetitions: 2 },
  'turn-c16': { ...base, title: 'responses, a turn of 4 KB', passage: 'responses', size: 4 * kib, connections: 16, targets: stored },
  'turn-translated-c16': {
    ...base,
    title: 'responses, OpenAI chat completions upstream, a turn of 4 KB',
    passage: 'responses-to-openai',
    size: 4 * kib,
    connections: 16,
    targets: stored,
  },
  'turn-stream-c64': {
    ...base,
    title: 'responses, stream, a turn of 4 KB',
    passage: 'responses',
    stream: true,
    size: 4 * kib,
    connections: 64,
    targets: stored,
  },
  'embeddings-c16': { ...base, title: 'embeddings of 1 KB of text, 1,536 numbers each', passage: 'embeddings', connections: 16, targets: media },
  'embeddings-batch-c16': {
    ...base,
    title: 'embeddings of 1,000 texts of 1 KB, 1,536 numbers each',
    passage: 'embeddings-batch',
    size: 1000 * kib,
    connections: 16,
    targets: media,
  },
  'speech-c64': { ...base, title: 'speech, 50 pieces of sound', passage: 'speech', stream: true, connections: 64, targets: media },
  // Of a size at which the server is the limit, and neither mock nor driver.
  'workers-c64': {
    ...base,
    title: 'same protocol, 20 KB, one process and two',
    size: 20 * kib,
    connections: 64,
    targets: ['raw-one', 'raw-two', 'workers-one', 'workers-two'],
    extraRepetitions: 2,
  },
  'growth-c16': {
    ...base,
    title: 'same protocol, 1 KB: 10 keys and models and a quiet stream, 20,000 keys and 2,000 models, 2,000 quiet streams',
    connections: 16,
    targets: ['few', 'many-keys', 'many-streams'],
    extraRepetitions: 4,
  },
  'growth-in-turn-c16': {
    ...base,
    title: 'the same, each request with the next key and model',
    passage: 'in-turn',
    connections: 16,
    targets: ['few', 'many-keys'],
    extraRepetitions: 4,
  },
  'stall-2m': { ...base, title: 'event-loop stall, 2 MB', size: 2048 * kib, connections: 1, targets: ['raw-probed', 'embedded-probed'] },
} as const satisfies Record<string, Omit<Case, 'id'>>;

export type CaseId = keyof typeof table;
export const cases: readonly Case[] = Object.entries(table).map(([id, rest]) => ({ id: id as CaseId, ...rest }));
