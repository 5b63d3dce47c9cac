/**
 * `kill -9` of translator, stats and edge under 50 streams that are stored: every turn is closed within ten seconds, none is lost whose end was released
 * without a declared loss, and none is readable by another key.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type OpenAI from 'openai';
import { splitAvailable, until } from '../../support/gateway.ts';
import { leftTheBus } from '../../support/gauges.ts';
import { readSpoken, withoutIds } from './spoken.ts';
import { hostNames, type Json, openStage, refusalOf, type Stage } from './stage.ts';

const long = 'text:100+slow:50';
const count = 50;
/** What a busy machine may add to a promised time. */
const busyMs = 10_000;
const suite = splitAvailable('stored-turns/kill') ? describe : describe.skip;

/** A stream as its caller saw it. */
interface Streamed {
  client: OpenAI;
  id: string;
  /** `z-request-id`. */
  request: string;
  /** Text that was delivered. */
  text: string;
  /** The type of its last event. */
  last: string;
  response: Json;
  /** Why it ended, where that was no event. */
  error: unknown;
  done: Promise<void>;
}

suite('split over NATS', () => {
  let stage: Stage;
  let other: OpenAI;
  beforeAll(async () => {
    stage = await openStage({ arrangement: 'split', twice: ['edge'] }, [long]);
    other = await stage.addKey('other');
  });
  afterAll(() => stage?.stop());
  // Only what was asked to end may end.
  afterEach(() => stage.gateway.checkProcesses());

  async function begin(clients: readonly OpenAI[]): Promise<Streamed[]> {
    const all = Array.from({ length: count }, (_, at): Streamed => {
      const streamed: Streamed = {
        client: clients[at % clients.length]!,
        id: '',
        request: `kill-${Math.random()}-${at}`,
        text: '',
        last: '',
        response: null,
        error: null,
        done: Promise.resolve(),
      };
      streamed.done = read(streamed, `${hostNames[at % hostNames.length]} ${long}`).catch((error: unknown) => {
        streamed.error = error;
      });
      return streamed;
    });
    await until(async () => all.every(({ text, error }) => text !== '' || error !== null), 'every stream to begin');
    expect(all.map(({ error }) => error)).toEqual(all.map(() => null));
    return all;
  }

  async function read(streamed: Streamed, model: string): Promise<void> {
    const stream = await streamed.client.responses.create({ model, input: 'go', stream: true }, { headers: { 'z-request-id': streamed.request } });
    for await (const event of stream as AsyncIterable<Json>) {
      streamed.last = event.type;
      if (event.response) [streamed.id, streamed.response] = [event.response.id, event.response];
      if (event.type === 'response.output_text.delta') streamed.text += event.delta;
    }
  }

  const kill = async (name: string): Promise<number> => {
    await stage.gateway.processes[name]!.kill('SIGKILL');
    const at = performance.now();
    await until(() => leftTheBus(stage.gateway, name), `the bus to notice that the ${name} is gone`);
    return at;
  };
  /** Every one of them is closed within ten seconds of `since`. */
  async function expectClosed(streams: readonly Streamed[], since: number): Promise<Map<string, Json>> {
    const stored = new Map<string, Json>();
    await until(
      async () => {
        for (const { id } of streams.filter((one) => !stored.has(one.id))) {
          const turn: Json = await stage.client.responses
            .retrieve(id)
            .catch((error: { status: number }) => (error.status === 404 ? { status: 'missing' } : { status: 'in_progress' }));
          if (turn.status !== 'in_progress') stored.set(id, turn);
        }
        return stored.size === streams.length;
      },
      'every turn to be closed',
      10_000 + busyMs,
    );
    expect(performance.now() - since).toBeLessThan(10_000 + busyMs);
    return stored;
  }
  /** What was delivered of a stream that broke is gone on from. */
  async function expectReplayed({ id, text }: Streamed): Promise<void> {
    stage.takeRequests();
    await stage.ask({ model: 'alpha', input: 'say-next', previous_response_id: id });
    const spoken = withoutIds(readSpoken('alpha', stage.takeRequests()[0]!.json));
    expect(spoken.map(([who]) => who)).toEqual(['user', 'assistant', 'user']);
    expect(spoken[1]![1]!.trimEnd().startsWith(text.trimEnd())).toBe(true);
  }
  async function expectForeign(streams: readonly Streamed[]): Promise<void> {
    for (const { id } of streams.slice(0, 5)) expect((await refusalOf(other.responses.retrieve(id))).status).toBe(404);
  }

  test('the translator', async () => {
    const streams = await begin([stage.client]);
    const at = await kill('translator');
    await Promise.all(streams.map(({ done }) => done));
    for (const { last, response, error } of streams) {
      // The ending that the edge writes is one that the SDK takes.
      expect([error, ['response.incomplete', 'response.failed', 'error'].includes(last)]).toEqual([null, true]);
      if (last === 'response.incomplete') expect(response.status).toBe('incomplete');
    }
    await stage.gateway.processes['translator']!.restart();
    const stored = await expectClosed(streams, at);
    expect([...new Set([...stored.values()].map(({ status }) => status))]).toEqual(['incomplete']);
    for (const one of streams.slice(0, 6)) await expectReplayed(one);
    await expectForeign(streams);
  });

  test('the statistics service', async () => {
    const streams = await begin([stage.client]);
    const at = await kill('stats');
    await Promise.all(streams.map(({ done }) => done));
    expect(streams.map(({ last }) => last)).toEqual(streams.map(() => 'response.completed'));
    await stage.gateway.processes['stats']!.restart();
    await expectStoredOrDeclared(streams, at);
    await expectForeign(streams);
  });

  test('the statistics service, back before the streams end', async () => {
    const streams = await begin([stage.client]);
    await kill('stats');
    await stage.gateway.processes['stats']!.restart();
    await Promise.all(streams.map(({ done }) => done));
    expect(streams.map(({ last }) => last)).toEqual(streams.map(() => 'response.completed'));
    await expectStoredOrDeclared(streams, performance.now());
  });

  /** Nothing is lost whose end was released without a word. */
  async function expectStoredOrDeclared(streams: readonly Streamed[], since: number): Promise<void> {
    const declared = new Set<string>();
    for (const { id, request } of streams) if ((await stage.losses(request)).some(({ field }) => field === 'store')) declared.add(id);
    // What lies in an outbox arrives when the service is back.
    await until(
      async () => {
        for (const { id } of streams.filter((one) => !declared.has(one.id)))
          if ((await stage.client.responses.retrieve(id).catch(() => ({ status: 'missing' }))).status !== 'completed') return false;
        return true;
      },
      'every turn that was not declared lost to be stored as completed',
      30_000,
    );
    const stored = await expectClosed(streams, Math.max(since, performance.now() - 10_000));
    for (const { id, response } of streams.filter((one) => !declared.has(one.id))) expect(stored.get(id)).toMatchObject({ ...response, status: 'completed' });
  }

  test('an edge, of two', async () => {
    const second = stage.clientOf(stage.gateway.key, stage.gateway.edgeUrls[1]);
    const streams = await begin([second]);
    const at = await kill('edge-2');
    await Promise.all(streams.map(({ done }) => done));
    const stored = await expectClosed(streams, at);
    expect([...stored.values()].filter(({ status }) => status === 'missing')).toEqual([]);
    for (const one of streams.slice(0, 3)) await expectReplayed(one);
    await expectForeign(streams);
    await stage.gateway.processes['edge-2']!.restart();
  });
});
