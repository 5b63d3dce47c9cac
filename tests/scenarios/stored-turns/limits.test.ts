/** What the store refuses to grow beyond: bytes of a key, age, length of a chain; and an installation that keeps no turns at all. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type OpenAI from 'openai';
import { arrangements, until } from '../../support/gateway.ts';
import { readSpoken } from './spoken.ts';
import { openStage, refusalOf, type Stage, textOf } from './stage.ts';

describe.each(arrangements('stored-turns/limits'))('a %s gateway', (arrangement) => {
  describe('with little space for each key', () => {
    let stage: Stage;
    let client: OpenAI;
    beforeAll(async () => {
      stage = await openStage({ arrangement, toml: { turns: { max_bytes_per_key: 200_000 } } });
      client = await stage.addKey('filling');
    });
    afterAll(() => stage?.stop());

    test('what does not fit is answered, not stored, and declared; another key has its own space; deleting makes some', async () => {
      const stored: string[] = [];
      let full: { id: string; response: string } | undefined;
      while (full === undefined && stored.length < 20) {
        const { response, id } = await stage.ask({ model: 'alpha', input: `say-one ${'x'.repeat(30_000)}` }, { client, stream: stored.length % 2 === 0 });
        expect(textOf(response)).toBe('said one');
        if ((await stage.losses(id)).some(({ field }) => field === 'store')) full = { id, response: response.id };
        else stored.push(response.id);
      }
      expect(stored.length).toBeGreaterThan(2);
      expect(full).toBeDefined();
      expect((await refusalOf(client.responses.retrieve(full!.response))).status).toBe(404);
      const other = await stage.ask({ model: 'alpha', input: `say-one ${'x'.repeat(30_000)}` });
      expect((await stage.retrieveEnded(other.response.id)).status).toBe('completed');
      for (const id of stored) await client.responses.delete(id);
      const after = await stage.ask({ model: 'alpha', input: `say-two ${'x'.repeat(30_000)}` }, { client });
      expect((await stage.retrieveEnded(after.response.id, client)).status).toBe('completed');
    });
  });

  describe('that keeps no turns', () => {
    let stage: Stage;
    beforeAll(async () => {
      stage = await openStage({ arrangement, toml: { turns: { enabled: false } } });
    });
    afterAll(() => stage?.stop());

    test('elsewhere than at the same protocol, turns are neither stored nor gone on from, which is declared', async () => {
      const one = await stage.ask({ model: 'beta', input: 'say-one' });
      expect((await refusalOf(stage.client.responses.retrieve(one.response.id))).status).toBe(404);
      stage.takeRequests();
      const two = await stage.ask({ model: 'beta', input: 'say-two', previous_response_id: one.response.id });
      expect(readSpoken('beta', stage.takeRequests()[0]!.json)).toEqual([['user', 'say-two']]);
      expect((await stage.losses(two.id)).map(({ field }) => field)).toContain('previous_response_id');
    });

    test('an upstream of the same protocol keeps them itself, and answers for them to their owner alone', async () => {
      const other = await stage.addKey('other');
      for (const stream of [false, true]) {
        const one = await stage.ask({ model: 'alpha_response', input: 'say-one', store: true }, { stream });
        expect(one.response.id).toMatch(/^resp_fake/);
        stage.takeRequests();
        const two = await stage.ask({ model: 'alpha_response', input: 'say-two', previous_response_id: one.response.id }, { stream });
        const [request] = stage.takeRequests();
        expect(request!.json).toMatchObject({ previous_response_id: one.response.id });
        expect(readSpoken('alpha_response', request!.json)).toEqual([['user', 'say-two']]);
        expect(textOf(two.response)).toBe('said two');
        expect(textOf(await stage.retrieveEnded(one.response.id))).toBe('said one');
        expect((await refusalOf(other.responses.retrieve(one.response.id))).status).toBe(404);
        await stage.client.responses.delete(one.response.id);
        expect((await refusalOf(stage.client.responses.retrieve(one.response.id))).status).toBe(404);
      }
    });
  });

  describe('of long chains', () => {
    let stage: Stage;
    beforeAll(async () => {
      stage = await openStage({ arrangement, toml: { server: { max_body_bytes: 300_000 } } });
    });
    afterAll(() => stage?.stop());

    test('a history of more bytes than a body may have is refused, never cut', async () => {
      let previous: string | undefined;
      let refused: { status: number; code: string | null } | undefined;
      for (let turn = 0; turn < 10 && refused === undefined; turn++) {
        stage.takeRequests();
        const asked = stage.ask({ model: 'alpha', input: `say-one ${'x'.repeat(60_000)}`, ...(previous && { previous_response_id: previous }) });
        const outcome = await asked.then(
          ({ response }) => response.id,
          async () => null,
        );
        if (outcome === null) refused = await refusalOf(asked);
        else {
          expect(readSpoken('alpha', stage.takeRequests()[0]!.json)).toHaveLength(2 * turn + 1);
          previous = outcome;
        }
      }
      expect(refused).toMatchObject({ status: 400, code: 'context_length_exceeded' });
      expect(stage.takeRequests()).toEqual([]);
    });

    // What each turn costs is counted where it can be counted exactly: in statements (packages/storage/test/turns-statements.test.ts).
    test('a chain of 200 turns is sent whole', async () => {
      let previous: string | undefined;
      for (let turn = 1; turn <= 200; turn++) {
        stage.takeRequests();
        const { response } = await stage.ask({ model: 'beta', input: `say-${turn}`, ...(previous && { previous_response_id: previous }) });
        previous = response.id;
        if (turn % 50 === 0) {
          const spoken = readSpoken('beta', stage.takeRequests()[0]!.json);
          expect(spoken.map(([, text]) => text)).toEqual([
            ...Array.from({ length: turn - 1 }, (_, at) => [`say-${at + 1}`, `said ${at + 1}`]).flat(),
            `say-${turn}`,
          ]);
        }
      }
      await until(async () => (await stage.client.responses.retrieve(previous!)).status === 'completed', 'the last turn');
    });
  });
});
