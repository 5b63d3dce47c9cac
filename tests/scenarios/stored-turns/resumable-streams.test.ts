/**
 * Streams that are taken up again: one of each client protocol is cut at every event and goes on at another edge, byte by byte as if nothing had been; what
 * fell out is 410, what is somebody else's 404, and who never returns costs one row.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { arrangements, until } from '../../support/gateway.ts';
import { send } from '../../support/send.ts';
import { type Json, openStage, type Stage, tools } from './stage.ts';

const paced = 'play+slow:15';
const endless = 'pump+slow:20';
const fat = 'big:600000';
const resumeSeconds = 3;

/** A reference stream of each client protocol: reasoning, and then two calls. */
const clients = {
  alpha: (model: string): [string, Json] => [
    '/v1/chat/completions',
    {
      model,
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'calls-one' }],
      tools: tools.map(({ type, strict: _strict, ...tool }) => ({ type, function: tool })),
    },
  ],
  alpha_response: (model: string): [string, Json] => ['/v1/responses', { model, stream: true, input: 'calls-one', tools }],
  beta: (model: string): [string, Json] => [
    '/v1/messages',
    {
      model,
      stream: true,
      max_tokens: 4096,
      messages: [{ role: 'user', content: 'calls-one' }],
      tools: tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
    },
  ],
  gamma: (model: string): [string, Json] => [
    `/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
    {
      contents: [{ role: 'user', parts: [{ text: 'calls-one' }] }],
      tools: [{ functionDeclarations: tools.map(({ name, description, parameters }) => ({ name, description, parameters })) }],
    },
  ],
} as const;
type Client = keyof typeof clients;
const clientNames = Object.keys(clients) as Client[];

describe.each(arrangements('stored-turns/resumable-streams'))('a %s gateway', (arrangement) => {
  let stage: Stage;
  const otherKey = mintAccessKey();
  beforeAll(async () => {
    stage = await openStage(
      {
        arrangement,
        ...(arrangement === 'split' && { twice: ['edge'] }),
        toml: { streaming: { resume_seconds: resumeSeconds, resume_bytes: 262_144 } },
      },
      [paced, endless, fat],
    );
    await stage.addKey('other', otherKey);
  });
  afterAll(() => stage?.stop());

  const headers = (key = stage.gateway.key) => ({ authorization: `Bearer ${key}` });
  const resume = (id: string, after: number | string, { key = stage.gateway.key, edge = 1 }: { key?: string; edge?: number } = {}) =>
    send(stage.gateway.edgeUrls.at(edge) ?? stage.gateway.url, `/v1/streams/${id}?after=${after}`, { method: 'GET', headers: headers(key) });

  /** Begins a stream and cuts the connection when that many events have come; all of it when there are fewer. */
  function cutAfter(
    client: Client,
    model: string,
    count: number,
    more: Record<string, string> = { 'x-gateway-resume': '1' },
  ): Promise<{ id: string; events: string[]; whole: string }> {
    const [path, body] = clients[client](model);
    return new Promise((resolve, reject) => {
      const request = httpRequest(stage.gateway.url + path, {
        method: 'POST',
        agent: false,
        headers: { ...headers(), 'content-type': 'application/json', ...more },
      });
      request.on('error', reject);
      request.on('response', (reply: IncomingMessage) => {
        let text = '';
        const done = () => resolve({ id: String(reply.headers['x-gateway-stream'] ?? ''), events: eventsOf(text).slice(0, count), whole: text });
        reply.setEncoding('utf8');
        if (reply.statusCode !== 200) return reject(new Error(`${reply.statusCode}`));
        if (count === 0) {
          request.destroy();
          return done();
        }
        reply.on('data', (part: string) => {
          text += part;
          if (eventsOf(text).length < count) return;
          request.destroy();
          done();
        });
        reply.on('error', () => done());
        reply.on('end', done);
      });
      request.end(JSON.stringify(body));
    });
  }

  test.each(clientNames)('%s: cut at every event', async (client) => {
    const upstream = client === 'beta' ? 'gamma' : 'beta';
    const model = `${upstream} ${paced}`;
    const undisturbed = await cutAfter(client, model, Number.POSITIVE_INFINITY);
    expect(undisturbed.id).not.toBe('');
    const again = await resume(undisturbed.id, 0);
    expect([again.status, again.headers['content-type']]).toEqual([200, expect.stringMatching(/^text\/event-stream/)]);
    expect(withoutComments(again.text)).toBe(withoutComments(undisturbed.whole));
    const { length } = undisturbed.events;
    expect(length).toBeGreaterThan(4);
    await Promise.all(
      Array.from({ length: length + 1 }, async (_, count) => {
        const { id, events } = await cutAfter(client, model, count);
        expect([count, events.length]).toEqual([count, count]);
        const rest = await resume(id, count);
        const full = await resume(id, 0, { edge: 0 });
        expect([count, rest.status, full.status]).toEqual([count, 200, 200]);
        expect(eventsOf(full.text)).toHaveLength(length);
        expect(events.join('') + withoutComments(rest.text)).toBe(withoutComments(full.text));
      }),
    );
  });

  test('the position may be given as Last-Event-ID', async () => {
    const { id, events } = await cutAfter('alpha', `beta ${paced}`, 3);
    const rest = await send(stage.gateway.url, `/v1/streams/${id}`, { method: 'GET', headers: { ...headers(), 'last-event-id': '3' } });
    const full = await resume(id, 0);
    expect(events.join('') + withoutComments(rest.text)).toBe(withoutComments(full.text));
  });

  test('verbatim streams as well', async () => {
    const { id, events } = await cutAfter('beta', `beta ${paced}`, 4);
    const rest = await resume(id, 4);
    expect(events.join('') + withoutComments(rest.text)).toBe(withoutComments((await resume(id, 0)).text));
  });

  test('a stored turn’s stream is resumable by its id', async () => {
    const { id, events, whole } = await cutAfter('alpha_response', `beta ${paced}`, 4);
    expect(id).not.toBe('');
    const { response } = JSON.parse(/^data: (.*)$/m.exec(whole)![1]!);
    const rest = await send(stage.gateway.edgeUrls.at(-1)!, `/v1/responses/${response.id}?stream=true&starting_after=3`, { method: 'GET', headers: headers() });
    expect(rest.status).toBe(200);
    expect(events.join('') + withoutComments(rest.text)).toBe(withoutComments((await resume(id, 0)).text));
  });

  test('nobody who did not ask for it has one', async () => {
    for (const client of clientNames) expect((await cutAfter(client, `beta ${paced}`, Number.POSITIVE_INFINITY, {})).id).toBe('');
    const array = await send(stage.gateway.url, `/v1beta/models/${encodeURIComponent(`beta ${paced}`)}:streamGenerateContent`, {
      headers: { ...headers(), 'content-type': 'application/json', 'x-gateway-resume': '1' },
      body: JSON.stringify(clients.gamma('')[1]),
    });
    expect([array.status, array.headers['x-gateway-stream']]).toEqual([200, undefined]);
  });

  test('somebody else’s stream, and one that never was, are the same 404; a position that is none is 400', async () => {
    const { id } = await cutAfter('alpha', `beta ${paced}`, 2);
    const random = `${id.slice(0, -6)}${'0'.repeat(6)}`;
    for (const edge of [0, 1]) {
      const [theirs, nobodys] = [await resume(id, 0, { key: otherKey, edge }), await resume(random, 0, { edge })];
      expect([theirs.status, nobodys.status]).toEqual([404, 404]);
      expect(theirs.text.replaceAll(id, random)).toBe(nobodys.text);
    }
    for (const unknown of ['x', '..%2f..', 'x'.repeat(3000)]) expect((await resume(unknown, 0)).status).toBe(404);
    for (const after of ['x', '-1', '1.5', '1e3']) expect([after, (await resume(id, after)).status]).toEqual([after, 400]);
    expect((await send(stage.gateway.url, `/v1/streams/${id}?after=0`, { method: 'GET' })).status).toBe(401);
  });

  test('a position that fell out is 410', async () => {
    const { id } = await cutAfter('alpha', `beta ${fat}`, Number.POSITIVE_INFINITY);
    const gone = await resume(id, 0);
    expect([gone.status, gone.json.error.code]).toEqual([410, 'stream_gone']);
    expect((await resume(id, 0, { key: otherKey })).status).toBe(404);
  });

  test('who never returns: the upstream is left soon after, and there is one row', async () => {
    const from = stage.fake.requests.length;
    const { id } = await cutAfter('alpha', `beta ${endless}`, 3);
    await until(async () => stage.fake.requests[from]?.closed !== null, 'the upstream to be left');
    expect(stage.fake.requests[from]!.closed!.reason).toBe('left');
    const at = stage.fake.requests.length;
    expect([404, 410]).toContain((await resume(id, 0)).status);
    expect(stage.fake.requests.length).toBe(at);
    await until(async () => (await stage.gateway.rows()).some(({ model }) => model === `beta ${endless}`), 'its row');
    await stage.gateway.settle();
    expect((await stage.gateway.rows()).filter(({ model }) => model === `beta ${endless}`)).toHaveLength(1);
  });

  test('a stream whose key was disabled is not given out', async () => {
    const key = mintAccessKey();
    await stage.addKey('ending', key);
    const [path, body] = clients.alpha(`beta ${paced}`);
    const reply = await send(stage.gateway.url, path, {
      headers: { ...headers(key), 'content-type': 'application/json', 'x-gateway-resume': '1' },
      body: JSON.stringify(body),
    });
    const id = String(reply.headers['x-gateway-stream']);
    expect((await resume(id, 0, { key })).status).toBe(200);
    expect((await stage.gateway.console('PATCH', '/access-keys/ending', { enabled: false })).status).toBe(200);
    await until(async () => [401, 403].includes((await resume(id, 0, { key })).status), 'the key to be refused');
  });

  if (arrangement === 'split')
    test('the edge that held it is dead: 410 for its owner, 404 for others', async () => {
      const { edgeUrls, processes } = stage.gateway;
      const [path, body] = clients.alpha(`beta ${paced}`);
      const reply = await send(edgeUrls[1]!, path, {
        headers: { ...headers(), 'content-type': 'application/json', 'x-gateway-resume': '1' },
        body: JSON.stringify(body),
      });
      const id = String(reply.headers['x-gateway-stream']);
      expect((await resume(id, 0, { edge: 0 })).text).toBe(reply.text);
      await processes['edge-2']!.kill('SIGKILL');
      await until(async () => (await resume(id, 0, { edge: 0 })).status === 410, 'the stream to be gone');
      expect((await resume(id, 0, { key: otherKey, edge: 0 })).status).toBe(404);
      (await processes['edge-2']!.restart()) as undefined;
      expect((await resume(id, 0, { edge: 0 })).status).toBe(410);
    });
});

/** Blocks with their ends; comments, which keep the connection alive, are none. */
const eventsOf = (text: string): string[] => text.split(/(?<=\n\r?\n)/).filter((block) => /\n\r?\n$/.test(block) && !block.startsWith(':'));
const withoutComments = (text: string): string => text.replaceAll(/^:.*\r?\n\r?\n/gm, '');
