/** Recorded conversations with a vendor that keeps turns, replayed as upstream and asked for through the official SDK: the caller sees what was recorded. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type FakeUpstream, fixturesDirectory, haveFixtures, readCase, startFakeUpstream } from '../../fake-upstream/index.ts';
import { arrangements, borrowGateway, type TestGateway } from '../../support/gateway.ts';
import { send } from '../../support/send.ts';
import type { Json } from './stage.ts';

const folder = 'alpha_response_state';
const cases = [
  'background-stream-continuation',
  'background-stream-starting-after',
  'background-with-tool',
  'compact-messages',
  'compact-previous-response',
  'compaction-stateful',
  'conversation-explicit',
  'conversation-tool-call',
  'previous-response-chain',
];
const suite = haveFixtures() ? describe.each(arrangements('stored-turns/recordings')) : describe.skip.each(['embedded'] as const);

suite('a %s gateway', (arrangement) => {
  let fake: FakeUpstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    // Replies do not depend on the request here, so neither does what a vendor would refuse of it.
    fake = await startFakeUpstream({ strict: false });
    gateway = await borrowGateway({ arrangement });
    await gateway.configure({
      upstreams: [{ name: 'recorded', protocol: 'alpha_response', base_url: fake.url, api_keys: [{ key: 'sk-recorded' }] }],
      models: cases.flatMap((name) =>
        readCase(folder, name).map(({ n }) => ({ name: `${name} ${n}`, upstream: 'recorded', upstream_model_id: `fixture/${folder}/${name}/${n}` })),
      ),
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await fake?.close();
  });

  test.each(cases)('%s', async (name) => {
    /** Ids of the recording → those that the gateway gave in their place. */
    const ids = new Map<string, string>();
    const asNow = (text: string): string => [...ids].reduce((all, [recorded, given]) => all.replaceAll(recorded, given), text);
    for (const { n, method, path, query, status, request, response } of readCase(folder, name)) {
      const file = join(fixturesDirectory(), folder, name);
      const body: Json = method === 'POST' ? JSON.parse(asNow(readFileSync(join(file, request.file), 'utf8'))) : undefined;
      if (body?.model !== undefined) body.model = `${name} ${n}`;
      const recorded = readFileSync(join(file, response.file), 'utf8');
      const answer = await send(gateway.url, asNow(path) + query, {
        method,
        headers: { authorization: `Bearer ${gateway.key}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      });
      expect([name, n, answer.status, answer.status === status ? '' : answer.text]).toEqual([name, n, status, '']);
      const [said, wanted] = [read(answer.text), read(recorded)];
      expect([name, n, said.map(shapeOf)]).toEqual([name, n, wanted.map(shapeOf)]);
      const [recordedId, givenId] = [idOf(wanted), idOf(said)];
      if (recordedId !== undefined && givenId !== undefined) ids.set(recordedId, givenId);
      expect([name, n, said.map((one) => essence(one))]).toEqual([name, n, wanted.map((one) => essence(JSON.parse(asNow(JSON.stringify(one)))))]);
    }
  });
});

/** One JSON, or the events of a stream. */
const read = (text: string): Json[] =>
  text.trimStart().startsWith('{')
    ? [JSON.parse(text)]
    : text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice('data: '.length))] : []));
const idOf = ([first]: Json[]): string | undefined => first?.response?.id ?? first?.id;
const shapeOf = (one: Json): string => one.type ?? one.object;

/** Names that the gateway gives, and what a vendor may seal anew for each reader: those are compared in suites of their own. */
function essence(one: Json): Json {
  if (Array.isArray(one)) return one.map(essence);
  if (typeof one !== 'object' || one === null) return one;
  return Object.fromEntries(
    Object.entries(one)
      .filter(([key]) => !['model', 'encrypted_content', 'created_at', 'previous_response_id', 'store'].includes(key))
      // A gateway conversation's own time is its own.
      .map(([key, value]) => [key, essence(value)]),
  );
}
