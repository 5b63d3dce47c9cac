/**
 * The asks of the matrix as streams, answered by the strict fake upstream, which thinks, and calls a tool where there is one: each reply is valid in
 * the caller's protocol, the vendor refuses nothing and is asked once, nothing is lost in silence, nothing is invented.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { speakers, validate } from '../../packages/protocols/test/laws/harness.ts';
import { type FakeUpstream, startFakeUpstream, type UpstreamRequest } from '../fake-upstream/index.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { send } from '../support/send.ts';
import type { Ask } from './ask.ts';
import { answersForItself, type Caller, callers } from './callers.ts';
import { inventions, refusalsOf, silentLosses } from './judge.ts';
import { targets as allTargets, type MatrixTarget } from './targets.ts';

/** Behind invoke the fake upstream speaks Claude's protocol alone. */
const targets = allTargets.filter(({ protocol, model }) => protocol !== 'cloudhost_invoke' || /claude/.test(model));
/** Each ask goes to one in so many of the targets, another share for each ask, so that every target gets as many. */
const share = 6;

const nameOf = (target: MatrixTarget): string => `m${targets.indexOf(target)}`;

let fake: FakeUpstream;
let gateway: InProcessGateway;
beforeAll(async () => {
  fake = await startFakeUpstream();
  gateway = await startInProcess({
    strict: false,
    upstreams: targets.map((target) => ({
      ...{ name: nameOf(target), protocol: target.protocol, base_url: fake.url },
      api_keys: [{ key: target.protocol.startsWith('cloudhost') ? `AKID${nameOf(target)}:secret` : `sk-${nameOf(target)}` }],
    })),
    models: targets.map((target) => ({
      ...{ name: nameOf(target), upstream: nameOf(target), upstream_model_id: `${target.model}@think` },
      ...(target.kind !== undefined && { kind: target.kind }),
    })),
  });
});
afterAll(async () => {
  await gateway?.stop();
  fake?.takeRefusals();
  await fake?.close();
});

async function judge(caller: Caller, ask: Ask, target: MatrixTarget): Promise<string[]> {
  gateway.rows.length = 0;
  fake.requests.length = 0;
  const model = nameOf(target);
  const body = caller.protocol === 'gamma' ? ask.body : { ...ask.body, model, stream: true };
  const answer = await send(gateway.url, caller.path(model, true), {
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const row = await gateway.row(String(answer.headers['x-request-id']));
  const [reached, again] = [...fake.requests];
  if (!reached) return [`nothing was sent: ${answer.status} ${answer.text.slice(0, 200)}`];
  if (reached.refusal && answersForItself(caller, target, ask) && isOwnFault(target, reached, body)) return [];
  return [
    ...(again ? [`it was sent ${fake.requests.length} times, first refused by ${reached.refusal?.rule}`] : []),
    ...(!again && reached.refusal ? [`${reached.refusal.rule}: ${reached.refusal.message.slice(0, 160)}`] : []),
    ...replyFaults(caller, answer),
    ...silentLosses(ask, reached.body.toString('utf8'), row),
    ...inventions(ask, reached.body.toString('utf8')),
  ];
}

/** Whether the caller's own words break the same rule. */
function isOwnFault(target: MatrixTarget, { refusal, headers, path }: UpstreamRequest, body: object): boolean {
  const own = refusalsOf(target, { url: `http://vendor${path}`, headers: headers as Record<string, string>, body: JSON.stringify(body) });
  return own.some(({ rule }) => rule === refusal?.rule);
}

function replyFaults(caller: Caller, answer: Awaited<ReturnType<typeof send>>): string[] {
  if (answer.status !== 200) return [`answered ${answer.status}: ${answer.text.slice(0, 160)}`];
  if (!/^text\/event-stream/.test(answer.headers['content-type'] ?? '')) return [`answered as ${answer.headers['content-type']}`];
  const speaker = speakers.find(({ id }) => id === caller.protocol)!;
  const warned = answer.text.includes('"_gateway_warning"') ? ['the stream broke off'] : [];
  return [...warned, ...validate(speaker, answer.text)].map((fault) => `the stream: ${fault}`);
}

describe.each(callers.map((caller) => [caller.protocol, caller] as const))('streams of %s', (_protocol, caller) => {
  test.each(targets.map((target, at) => [target.protocol, target.model, target, at] as const))('from %s of %s', async (_upstream, _model, target, at) => {
    const faults: string[] = [];
    for (const [index, ask] of caller.asks.entries())
      if ((index + at) % share === 0) for (const fault of await judge(caller, ask, target)) faults.push(`${ask.name}: ${fault}`);
    expect(faults).toEqual([]);
  });
});
