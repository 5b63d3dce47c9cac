/**
 * Streams with changed optional fields, in random pieces, through the real data plane: every request ends, with an error or with a stream that a strict
 * client of its protocol takes, and leaves its row. `FUZZ_RUNS` and `FUZZ_SEED` as for the codecs' own fuzz, which is where most of it is done.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRandom, mutateRecords, pick, type Random } from '../../packages/protocols/test/fuzz/mutate.ts';
import { type FuzzedRecord, replySeeds } from '../../packages/protocols/test/fuzz/replies.ts';
import { speakers, upstreams, validate } from '../../packages/protocols/test/laws/harness.ts';
import { writeEvent } from '../../packages/protocols/test/play/event-stream.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createScriptedOutbound } from '../support/scripted-outbound.ts';

const runs = Math.max(1, Math.round(Number(process.env['FUZZ_RUNS'] ?? 960) / (speakers.length * upstreams.length)));
const firstSeed = Number(process.env['FUZZ_SEED'] ?? 1);
/** What a model said is its own matter: broken arguments, a call without a name. */
const upstreamsOwn = /arguments are no JSON|no JSON object|has no name|without a name/;

const outbound = createScriptedOutbound();
const nameOf = (id: string): string => id.replaceAll(/[^\w]+/g, '-');
let gateway: InProcessGateway;
beforeAll(async () => {
  gateway = await startInProcess({
    outbound,
    upstreams: upstreams.map(({ id }) => ({
      name: nameOf(id),
      protocol: id.split(',')[0] as 'alpha',
      base_url: 'https://upstream.test',
      api_keys: [{ key: 'sk-1' }],
    })),
    models: upstreams.map(({ id, target }) => ({
      name: nameOf(id),
      upstream: nameOf(id),
      upstream_model_id: target.upstreamModelId,
      ...(target.kind && { kind: target.kind }),
    })),
  });
});
afterAll(() => gateway.stop());

const question = [{ role: 'user', content: 'hi' }];
const asks: Readonly<Record<string, (model: string) => [path: string, body: object]>> = {
  alpha: (model) => ['/v1/chat/completions', { model, stream: true, stream_options: { include_usage: true }, messages: question }],
  alpha_response: (model) => ['/v1/responses', { model, stream: true, input: 'hi' }],
  beta: (model) => ['/v1/messages', { model, stream: true, max_tokens: 64, messages: question }],
  gamma: (model) => [`/v1beta/models/${model}:streamGenerateContent?alt=sse`, { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }],
};

const print = (framing: string, { event, json, data }: FuzzedRecord): Buffer => {
  if (framing === 'event-stream') return writeEvent(event ?? 'chunk', json);
  return Buffer.from(`${event === undefined ? '' : `event: ${event}\n`}data: ${json === undefined ? data : JSON.stringify(json)}\n\n`, 'utf8');
};

function inPieces(bytes: Buffer, random: Random): Buffer[] {
  const cuts = Array.from({ length: Math.floor(random() * 12) }, () => Math.floor(random() * bytes.length)).sort((one, other) => one - other);
  return [...cuts, bytes.length].map((end, at) => bytes.subarray(cuts[at - 1] ?? 0, end)).filter(({ length }) => length > 0);
}

const pairs = speakers.flatMap((client) => upstreams.map((upstream) => ({ name: `${client.id} from ${upstream.id}`, client, upstream })));

describe.each(pairs)('$name', ({ client, upstream }) => {
  const seeds = replySeeds(upstream).streams;
  test(`${runs} streams`, async () => {
    for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
      const random = createRandom(seed);
      const records = mutateRecords(pick(pick(seeds, random), random), random, 3);
      const bytes = Buffer.concat(records.map((record) => print(upstream.upstream.framing, record)));
      outbound.script = {
        contentType: upstream.upstream.framing === 'event-stream' ? 'application/vnd.amazon.eventstream' : 'text/event-stream',
        chunks: inPieces(bytes, random),
        ending: random() < 0.9 ? 'end' : 'reset',
      };
      const [path, body] = asks[client.id]!(nameOf(upstream.id));
      const id = `${nameOf(client.id)}-${nameOf(upstream.id)}-${seed}`;
      const reply = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': id },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(60_000),
      });
      const text = await reply.text();
      const row = await gateway.row(id);
      // A vendor's own bytes pass as they are: then only their ending is ours.
      const judged = reply.status === 200 && row.pipeline?.includes('translate');
      const faults = judged ? validate(client, text).filter((fault) => !upstreamsOwn.test(fault)) : [];
      expect({ seed, status: reply.status === 200 || reply.status >= 400, row: row.error_code !== 'internal', faults }).toEqual({
        seed,
        status: true,
        row: true,
        faults: [],
      });
      if (reply.status !== 200) expect(Object.keys(JSON.parse(text) as object)).toContain('error');
    }
  }, 600_000);
});
