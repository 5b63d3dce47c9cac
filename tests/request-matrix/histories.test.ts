/**
 * Conversations whose signatures and encrypted reasoning were really issued: with tools and thinking, on one vendor's model, then on another's, and back,
 * also in the middle of a loop of calls. The strict fake upstream knows what it issued to whom: it refuses nothing, is never asked twice, and gets its
 * own signatures back.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ProtocolId } from '@model-gateway/contracts';
import { speakers, validate } from '../../packages/protocols/test/laws/harness.ts';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { send } from '../support/send.ts';
import { type Talk, talks } from './talk.ts';
import type { MatrixTarget } from './targets.ts';

const families: readonly MatrixTarget[] = [
  { protocol: 'alpha_response', model: 'gpt-5.2' },
  { protocol: 'beta', model: 'claude-sonnet-4-5-20250929' },
  { protocol: 'gamma', model: 'gemini-3-pro-preview' },
  { protocol: 'alpha', model: 'deepseek-v4-pro' },
  { protocol: 'cloudhost_converse', model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0' },
  { protocol: 'alpha', model: 'mistral-large-latest' },
  { protocol: 'cloudhost_invoke', model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0' },
  { protocol: 'delta', model: 'qwen3-max' },
  { protocol: 'alpha', model: 'gpt-5.2' },
];
const nameOf = (target: MatrixTarget): string => `f${families.indexOf(target)}`;
/** Whose wires carry what proves that the model thought. */
const signs: ReadonlySet<ProtocolId> = new Set(['alpha_response', 'beta', 'gamma', 'cloudhost_converse', 'cloudhost_invoke']);

let fake: FakeUpstream;
let gateway: InProcessGateway;
/** What the vendor issues with its next reply, and whether that reply calls. */
let next = { signature: '', calls: false };

beforeAll(async () => {
  fake = await startFakeUpstream({
    play: () => ({
      thinking: { text: `Thought ${next.signature.slice(0, 8)}.`, signature: next.signature },
      ...(next.calls ? { call: 'look', args: { q: 'it' } } : { text: 'So it is.' }),
    }),
  });
  gateway = await startInProcess({
    strict: false,
    upstreams: families.map((family) => ({
      ...{ name: nameOf(family), protocol: family.protocol, base_url: fake.url },
      api_keys: [{ key: family.protocol.startsWith('cloudhost') ? `AKID${nameOf(family)}:secret` : `sk-${nameOf(family)}` }],
    })),
    models: families.map((family) => ({ name: nameOf(family), upstream: nameOf(family), upstream_model_id: `${family.model}@play` })),
  });
});
afterAll(async () => {
  await gateway?.stop();
  fake?.takeRefusals();
  await fake?.close();
});

interface Step {
  on: MatrixTarget;
  /** What the person says; absent: the calls are answered. */
  say?: string;
  calls: boolean;
  /** Steps whose signatures this vendor must get back. */
  returns?: readonly number[];
}

/** A loop on one model, a loop on another, back, and from one to the other between a call and its result. */
const stepsOf = (own: MatrixTarget, other: MatrixTarget): Step[] => [
  { on: own, say: 'First?', calls: true },
  { on: own, calls: true, returns: [0] },
  { on: own, calls: false, returns: [0, 1] },
  { on: other, say: 'Second?', calls: true },
  { on: other, calls: false, returns: [3] },
  { on: own, say: 'Third?', calls: true, returns: [] },
  { on: own, calls: true, returns: [5] },
  { on: other, calls: true, returns: [] },
  { on: own, calls: false, returns: [5, 6] },
  { on: other, say: 'Last?', calls: true, returns: [] },
  { on: other, calls: false, returns: [9] },
];

/** What is wrong with one step; [] when nothing is. */
async function take(talk: Talk, step: Step, stream: boolean, issued: string[]): Promise<string[]> {
  if (step.say === undefined) talk.answerCalls();
  else talk.say(step.say);
  next = { signature: randomBytes(48).toString('base64'), calls: step.calls };
  issued.push(next.signature);
  fake.requests.length = 0;
  const model = nameOf(step.on);
  const answer = await send(gateway.url, talk.path(model, stream), {
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(talk.body(model, stream)),
  });
  const requests = [...fake.requests];
  const refusals = requests.flatMap(({ refusal }) => (refusal ? [`${refusal.rule}: ${refusal.message.slice(0, 160)}`] : []));
  if (answer.status !== 200) return [`answered ${answer.status}: ${answer.text.slice(0, 200)}`, ...refusals];
  const speaker = speakers.find(({ id }) => id === talk.protocol)!;
  talk.take(stream ? talk.collect(answer.text) : answer.json);
  const body = requests.at(-1)?.body.toString('utf8') ?? '';
  const missing = signs.has(step.on.protocol) ? (step.returns ?? []).filter((at) => !body.includes(JSON.stringify(issued[at]).slice(1, -1))) : [];
  return [
    ...refusals,
    ...(requests.length === 1 ? [] : [`asked ${requests.length} times`]),
    ...missing.map((at) => `the signature of step ${at} did not come back`),
    ...(stream ? validate(speaker, answer.text).map((fault) => `the stream: ${fault}`) : []),
  ];
}

describe.each(talks.map((begin) => [begin().protocol, begin] as const))('conversations of %s', (_protocol, begin) => {
  describe.each(['whole', 'streamed'] as const)('%s', (form) => {
    test.each(families.map((own) => [own.protocol, own.model, own] as const))('on %s of %s, elsewhere and back', async (_upstream, _model, own) => {
      const faults: string[] = [];
      // One neighbour each way, others for streams: every family is the other of several.
      const at = families.indexOf(own);
      for (const distance of form === 'whole' ? [1, 4] : [2, 7]) {
        const other = families[(at + distance) % families.length]!;
        const talk = begin();
        const issued: string[] = [];
        for (const [index, step] of stepsOf(own, other).entries()) {
          const found = await take(talk, step, form === 'streamed', issued);
          faults.push(...found.map((fault) => `with ${other.model} (${other.protocol}), step ${index}: ${fault}`));
          // What follows would only follow from it.
          if (found.some((fault) => fault.startsWith('answered'))) break;
        }
      }
      expect(faults).toEqual([]);
    });
  });
});
