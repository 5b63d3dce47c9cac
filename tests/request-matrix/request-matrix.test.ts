/**
 * Each ask of each client protocol goes whole through the data plane to each family of models, and is judged there: the vendor refuses nothing of it,
 * nothing of it is lost in silence, nothing is invented.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess, until } from '../support/in-process.ts';
import { type NatsServer, startNatsServer } from '../support/nats-server.ts';
import { send } from '../support/send.ts';
import type { Ask } from './ask.ts';
import { answersForItself, type Caller, callers } from './callers.ts';
import { inventions, refusalsOf, silentLosses } from './judge.ts';
import { createJudgingUpstream, type Reached } from './judging-upstream.ts';
import { type MatrixTarget, targets } from './targets.ts';

const nameOf = (target: MatrixTarget): string => `m${targets.indexOf(target)}`;
/** Moonshot refuses more at its own addresses. */
const hostOf = (target: MatrixTarget): string => `${nameOf(target)}.${target.model.startsWith('kimi') ? 'moonshot.ai' : 'test'}`;

const upstream = createJudgingUpstream();
/** `MATRIX_BUS=nats`: the services speak over a real NATS server. */
const overNats = process.env['MATRIX_BUS'] === 'nats';
let nats: NatsServer | undefined;
let gateway: InProcessGateway;
beforeAll(async () => {
  if (overNats) nats = await startNatsServer();
  gateway = await startInProcess({
    outbound: upstream,
    ...(nats && { natsUrl: nats.url }),
    // Nothing is written through what the bus carries here; other suites hold it to that.
    strict: false,
    upstreams: targets.map((target) => ({
      ...{ name: nameOf(target), protocol: target.protocol, base_url: `https://${hostOf(target)}` },
      api_keys: [{ key: target.protocol.startsWith('cloudhost') ? 'AKIDEXAMPLE:secret' : 'sk-one' }],
    })),
    models: targets.map((target) => ({
      ...{ name: nameOf(target), upstream: nameOf(target), upstream_model_id: target.model },
      ...(target.kind !== undefined && { kind: target.kind }),
    })),
  });
  // Over NATS the edge learns a moment later who serves.
  await until(async () => (await ask(callers[0]!, callers[0]!.asks[0]!, targets[0]!)).status !== 503, 'the services to be there');
  upstream.take(hostOf(targets[0]!));
});
afterAll(async () => {
  await gateway?.stop();
  await nats?.dispose();
});

const bodyOf = (caller: Caller, { body }: Ask, target: MatrixTarget): object => (caller.protocol === 'gamma' ? body : { ...body, model: nameOf(target) });

const ask = (caller: Caller, what: Ask, target: MatrixTarget) =>
  send(gateway.url, caller.path(nameOf(target)), {
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(bodyOf(caller, what, target)),
  });

/** What is wrong with one cell; [] when nothing is. */
async function judge(caller: Caller, what: Ask, target: MatrixTarget): Promise<string[]> {
  gateway.rows.length = 0;
  const answer = await ask(caller, what, target);
  const row = await gateway.row(String(answer.headers['x-request-id']));
  const [reached, again] = upstream.take(hostOf(target));
  if (!reached) return [`nothing was sent: ${answer.status} ${answer.text.slice(0, 200)}`];
  if (again) return ['it was sent twice'];
  const refused = refusalsOf(target, reached);
  const own = ownFaults(caller, target, what, bodyOf(caller, what, target), reached);
  return [
    ...refused.filter(({ rule }) => !own.has(rule)).map(({ rule, message }) => `${rule}: ${message.slice(0, 160)}`),
    ...silentLosses(what, reached.body, row),
    ...inventions(what, reached.body),
  ];
}

/** The rules that the caller's own words break at home. An incomplete history is so wherever it passes as it is. */
function ownFaults(caller: Caller, target: MatrixTarget, ask: Ask, body: object, reached: Reached): ReadonlySet<string> {
  if (!answersForItself(caller, target, ask)) return new Set();
  return new Set(refusalsOf(target, { ...reached, body: JSON.stringify(body) }).map(({ rule }) => rule));
}

describe.each(callers.map((caller) => [caller.protocol, caller] as const))('callers of %s', (_protocol, caller) => {
  test.each(targets.map((target) => [target.protocol, target.model, target] as const))('to %s of %s', async (_upstream, _model, target) => {
    const faults: string[] = [];
    for (const ask of caller.asks) for (const fault of await judge(caller, ask, target)) faults.push(`${ask.name}: ${fault}`);
    expect(faults).toEqual([]);
  });
});
