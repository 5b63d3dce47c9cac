/** What the tests of src/beta share: contexts without randomness, streams cut into records, and the recorded fixtures. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSseParser } from '@model-gateway/stream-framing';
import { createReader } from '../../src/beta/upstream/read-response.ts';
import type { ChatEvent } from '../../src/chat/event.ts';
import type { ReplyContext, StreamRecord, Target, TerminatorContext, WriteRequestContext } from '../../src/contract/index.ts';
import { envelopePrefix } from '../../src/kit/envelope-prefix.ts';
import { recordingsFolder } from './recordings-folder.ts';

/** Ids that count up, so that outputs can be compared. */
export function countingIds(): (prefix: string) => string {
  let count = 0;
  return (prefix) => `${prefix}${String(++count).padStart(4, '0')}`;
}

/** Stands in for the envelope: recognisable, and reversible. */
export const seal = (signature: string): string => `${envelopePrefix}${Buffer.from(signature).toString('base64')}`;
export const open = (sealed: string): string | null =>
  sealed.startsWith(envelopePrefix) ? Buffer.from(sealed.slice(envelopePrefix.length), 'base64').toString() : null;

export const replyContext = (changes: Partial<ReplyContext> = {}): ReplyContext => ({
  requestId: 'request-1',
  model: 'callers-name',
  createdAt: 1_700_000_000,
  now: () => 1_700_000_002,
  streamForm: 'sse',
  mintId: countingIds(),
  sealSignature: seal,
  inputEstimate: 42,
  ...changes,
});

export const terminatorContext = (): TerminatorContext => ({
  requestId: 'request-1',
  model: 'callers-name',
  createdAt: 1_700_000_000,
  streamForm: 'sse',
  mintId: countingIds(),
});

export const target = (changes: Partial<Target> = {}): Target => ({
  baseUrl: 'https://upstream.test',
  directPath: false,
  upstreamModelId: 'claude-sonnet-4-5',
  neutralHeaders: false,
  extraConfig: null,
  ...changes,
});

export const writeContext = (upstreamModelId = 'claude-sonnet-4-5', changes: Partial<WriteRequestContext> = {}): WriteRequestContext => ({
  target: target({ upstreamModelId }),
  operation: 'generate',
  stream: false,
  openSignature: open,
  mintId: countingIds(),
  ...changes,
});

export const readContext = { path: '/v1/messages', operation: 'generate', streamForm: 'whole', headers: {} } as const;

const parse = (data: string): unknown => {
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return undefined;
  }
};

export function recordsOf(text: string): (StreamRecord & { raw: Uint8Array })[] {
  const parser = createSseParser({ maxEventBytes: 1 << 24 });
  return [...parser.push(Buffer.from(text)), ...parser.finish()].map((record) => ({ ...record, json: parse(record.data) }));
}

export function readStream(text: string): ChatEvent[] {
  const reader = createReader();
  return [...recordsOf(text).flatMap((record) => reader.read(record)), ...reader.finish()];
}

export const ownFixture = (name: string): string => readFileSync(join(import.meta.dirname, '../../src/beta/fixtures', name), 'utf8');

const fixturesRoot = recordingsFolder;
export const recordedFolder = join(fixturesRoot, 'beta');
export const hasRecordings = existsSync(recordedFolder);

/** Recorded files whose name has this ending, as `case/file`. Without recordings: none, and one line of output, or a failure where they are required. */
export function recorded(ending: string): { name: string; text: string }[] {
  if (!hasRecordings) {
    if (process.env['FIXTURES_REQUIRED'] === '1') throw new Error(`no recorded fixtures at FIXTURES_DIR for ${ending}`);
    process.stdout.write(`beta: recorded ${ending} did not run, no fixtures\n`);
    return [];
  }
  return readdirSync(recordedFolder).flatMap((folder) =>
    readdirSync(join(recordedFolder, folder))
      .filter((file) => file.endsWith(ending))
      .map((file) => ({ name: `${folder}/${file}`, text: readFileSync(join(recordedFolder, folder, file), 'utf8') })),
  );
}
