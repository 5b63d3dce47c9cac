/** Body rules and `switch-route` through real processes: what the upstream hears, what the row tells, what the console takes and refuses. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { BodyRuleInput, RequestRow } from '@model-gateway/contracts';
import { mintAccessKey } from '@model-gateway/secrets';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { arrangements, startGateway, type TestGateway } from '../support/gateway.ts';
import { send } from '../support/send.ts';

const narrowKey = mintAccessKey();
let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterAll(() => fake.close());

const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };
const tool = (name: string) => ({ name, input_schema: { type: 'object' } });

/** Every mode once, on a messages body; `heard` is what the upstream gets of the named fields. */
const modes: { name: string; rule: BodyRuleInput; sent: Record<string, unknown>; received: Record<string, unknown> }[] = [
  {
    name: 'overwrite',
    rule: { mode: 'overwrite', path: 'metadata.user_id', value: 'key-{{request_access_key_name}}' },
    sent: {},
    received: { metadata: { user_id: 'key-caller' } },
  },
  { name: 'remove', rule: { mode: 'remove', path: 'top_k' }, sent: { top_k: 3 }, received: { top_k: undefined } },
  { name: 'add-if-absent', rule: { mode: 'add-if-absent', path: 'temperature', value: 0.5 }, sent: { temperature: 0.1 }, received: { temperature: 0.1 } },
  {
    name: 'append',
    rule: { mode: 'append', path: 'stop_sequences', value: 'END' },
    sent: { stop_sequences: ['A'] },
    received: { stop_sequences: ['A', 'END'] },
  },
  {
    name: 'append-if-missing',
    rule: { mode: 'append-if-missing', path: 'tools', value: tool('search'), condition: { scope: 'tools', where: [{ path: 'name', equal: 'search' }] } },
    sent: { tools: [tool('read')] },
    received: { tools: [tool('read'), tool('search')] },
  },
  {
    name: 'remove-matching',
    rule: { mode: 'remove-matching', condition: { scope: 'system', where: [{ path: 'text', equal: 'drop' }] } },
    sent: {
      system: [
        { type: 'text', text: 'drop' },
        { type: 'text', text: 'stay' },
      ],
    },
    received: { system: [{ type: 'text', text: 'stay' }] },
  },
  {
    name: 'strip-lines',
    rule: { mode: 'strip-lines', path: 'system', value: 'x-billing' },
    sent: { system: 'x-billing: 1\nBe kind.' },
    received: { system: 'Be kind.' },
  },
  {
    name: 'filter-content-types',
    rule: { mode: 'filter-content-types', value: 'image' },
    sent: { messages: [{ role: 'user', content: [image, { type: 'text', text: 'hi' }] }] },
    received: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '[image removed]' },
            { type: 'text', text: 'hi' },
          ],
        },
      ],
    },
  },
  {
    name: 'filter-tools',
    rule: { mode: 'filter-tools', value: 'web_*' },
    sent: { tools: [tool('web_search'), tool('read')] },
    received: { tools: [tool('read')] },
  },
  {
    name: 'inject-system-prompt',
    rule: { mode: 'inject-system-prompt', value: 'House rules.' },
    sent: { system: 'Be kind.' },
    received: { system: 'House rules.\n\nBe kind.' },
  },
];

describe.each(arrangements('body rules'))('%s', (arrangement) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ arrangement });
    const api_keys = [{ key: 'sk-one' }];
    await gateway.configure({
      upstreams: [
        { name: 'messages', protocol: 'beta', base_url: fake.url, api_keys },
        { name: 'generate', protocol: 'gamma', base_url: fake.url, api_keys },
        { name: 'chat', protocol: 'alpha', base_url: fake.url, api_keys },
        { name: 'responses', protocol: 'alpha_response', base_url: fake.url, api_keys },
        {
          name: 'ruled',
          protocol: 'alpha',
          base_url: fake.url,
          api_keys,
          request_body_rules: [
            { mode: 'overwrite', path: 'temperature', value: 0.9 },
            { mode: 'add-if-absent', path: 'user', value: '{{header:x-team|request_id}}' },
            { mode: 'overwrite', path: 'seed', value: 7 },
          ],
        },
        {
          name: 'sorting',
          protocol: 'beta',
          base_url: fake.url,
          api_keys,
          request_body_rules: [
            { mode: 'switch-route', when: [{ path: 'metadata.first' }], use_model: 'sorted-first' },
            { mode: 'switch-route', when: [{ path: 'metadata.second' }], use_model: 'sorted-second' },
          ],
        },
      ],
      models: [
        ...['to-sort', 'sorted-first', 'sorted-second'].map((name) => ({ name, upstream: 'sorting', upstream_model_id: 'ok' })),
        ...modes.map(({ name, rule }) => ({ name, upstream: 'messages', upstream_model_id: 'ok', request_body_rules: [rule] })),
        { name: 'both', upstream: 'ruled', upstream_model_id: 'ok', request_body_rules: [{ mode: 'overwrite', path: 'seed', value: 8 }] },
        {
          name: 'asked',
          upstream: 'messages',
          upstream_model_id: 'ok',
          request_body_rules: [
            {
              mode: 'switch-route',
              when: [
                { path: 'messages.*.content.*.type', equal: 'image' },
                { path: 'messages.*.content.*.content.*.type', equal: 'image' },
              ],
              use_model: 'sees',
            },
            { mode: 'switch-route', when: [{ path: 'metadata.pool' }], use_model: 'pool' },
            { mode: 'switch-route', when: [{ path: 'metadata.circle' }], use_model: 'circle' },
          ],
        },
        ...Array.from({ length: 7 }, (_, hop) => ({
          name: `hop-${hop}`,
          upstream: 'messages',
          upstream_model_id: 'ok',
          ...(hop < 6 && { request_body_rules: [{ mode: 'switch-route' as const, when: [{ path: 'model' }], use_model: `hop-${hop + 1}` }] }),
        })),
        {
          name: 'counted',
          upstream: 'responses',
          upstream_model_id: 'ok',
          request_body_rules: [
            { mode: 'inject-system-prompt', value: 'House rules.' },
            { mode: 'overwrite', path: 'temperature', value: 0 },
          ],
        },
        { name: 'sees', upstream: 'generate', upstream_model_id: 'text:3', hide_name: true },
        { name: 'secret-lab', upstream: 'chat', upstream_model_id: 'ok', enabled: false },
        {
          name: 'to-nowhere',
          upstream: 'chat',
          upstream_model_id: 'ok',
          request_body_rules: [{ mode: 'switch-route', when: [{ path: 'model' }], use_model: 'secret-lab' }],
        },
        {
          name: 'circle',
          upstream: 'chat',
          upstream_model_id: 'ok',
          request_body_rules: [{ mode: 'switch-route', when: [{ path: 'model' }], use_model: 'asked' }],
        },
      ],
      load_balancers: [{ name: 'pool', entries: [{ model: 'both' }] }],
      key_groups: [{ name: 'narrow', models: ['asked'] }],
      access_keys: [{ name: 'narrow', group: 'narrow', key: narrowKey }],
    });
  });
  afterAll(() => gateway.stop());

  const messages = (model: string, body: Record<string, unknown>, headers: Record<string, string> = {}) =>
    send(gateway.url, '/v1/messages', {
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model, max_tokens: 100, messages: [{ role: 'user', content: 'hi' }], ...body }),
    });
  const rowOf = (reply: { headers: Record<string, unknown> }): Promise<RequestRow> => gateway.row(reply.headers['x-request-id'] as string);

  test.each(modes)('$name', async ({ name, sent, received }) => {
    const reply = await messages(name, sent);
    expect(reply.status).toBe(200);
    const body = fake.requests.at(-1)!.json as Record<string, unknown>;
    expect(Object.fromEntries(Object.keys(received).map((key) => [key, body[key]]))).toEqual(received);
    expect((await rowOf(reply)).pipeline).toEqual(name === 'add-if-absent' ? [] : ['body-rules']);
  });

  test("the upstream's rules come first, the model's after them, on a translated body and on one that passes", async () => {
    const translated = await messages('both', {}, { 'x-team': 'blue' });
    expect(fake.requests.at(-1)!.json).toMatchObject({ temperature: 0.9, user: 'blue', seed: 8 });
    expect((await rowOf(translated)).pipeline).toEqual(['translate', 'body-rules']);
    const text = '{ "messages" : [{"role":"user","content":"hi","n":1.50}],\n "temperature": 1.00, "model":"both" , "seed":1e2}';
    const passed = await send(gateway.url, '/v1/chat/completions', {
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: text,
    });
    expect(fake.requests.at(-1)!.body.toString()).toBe(
      '{ "messages" : [{"role":"user","content":"hi","n":1.50}],\n "temperature": 0.9, "model":"ok" , "seed":8}',
    );
    expect((await rowOf(passed)).pipeline).toEqual(['body-rules']);
  });

  test('a switch to another protocol, streamed: grants are not asked again, hidden names serve, and the row tells both routes', async () => {
    const reply = await messages(
      'asked',
      { stream: true, messages: [{ role: 'user', content: [image, { type: 'text', text: 'what is it?' }] }] },
      { authorization: `Bearer ${narrowKey}` },
    );
    expect(reply.status).toBe(200);
    expect(reply.text).toContain('event: message_stop');
    expect(reply.text).toContain('"model":"asked"');
    expect(fake.requests.at(-1)!.path).toBe('/v1beta/models/text:3:streamGenerateContent?alt=sse');
    expect(await rowOf(reply)).toMatchObject({
      model: 'asked',
      requested_model: 'asked',
      upstream: 'generate',
      upstream_model_id: 'text:3',
      upstream_protocol: 'gamma',
      routes: ['asked', 'sees'],
      pipeline: ['switch-route', 'translate'],
    });
    // An image one level further in, in a tool's result, is seen too.
    await messages('asked', {
      tools: [tool('look')],
      messages: [
        { role: 'user', content: 'look' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [image] }] },
      ],
    });
    expect(fake.requests.at(-1)!.path).toBe('/v1beta/models/text:3:generateContent');
  });

  test('a switch to a load balancer, and none where no predicate holds', async () => {
    const pooled = await messages('asked', { metadata: { pool: 1 } });
    expect(await rowOf(pooled)).toMatchObject({
      status: 200,
      model: 'asked',
      upstream: 'ruled',
      routes: ['asked', 'both'],
      pipeline: ['switch-route', 'translate', 'body-rules'],
    });
    const stayed = await messages('asked', {});
    expect(await rowOf(stayed)).toMatchObject({ model: 'asked', upstream: 'messages', routes: [], pipeline: [] });
  });

  test('a count is made where the request would be answered, with the rules that a counter takes', async () => {
    const count = async (model: string, body: Record<string, unknown>) => {
      const reply = await send(gateway.url, '/v1/messages/count_tokens', {
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], ...body }),
      });
      expect(reply.json.input_tokens).toBeGreaterThan(0);
      return fake.requests.at(-1)!;
    };
    expect((await count('inject-system-prompt', {})).json).toEqual({ model: 'ok', messages: [{ role: 'user', content: 'hi' }], system: 'House rules.' });
    const { instructions, temperature, input } = (await count('counted', {})).json as Record<string, unknown>;
    expect([instructions, temperature, Array.isArray(input)]).toEqual(['House rules.', undefined, true]);
    expect((await count('add-if-absent', {})).json).toEqual({ model: 'ok', messages: [{ role: 'user', content: 'hi' }] });
    expect((await count('asked', { messages: [{ role: 'user', content: [image] }] })).path).toContain('/models/text:3:countTokens');
  });

  test('of an upstream’s rules the first that holds decides, also where it and others lead to the same upstream', async () => {
    const both = { metadata: { first: true, second: true } };
    expect(await rowOf(await messages('to-sort', both))).toMatchObject({ status: 200, routes: ['to-sort', 'sorted-first'] });
    expect(await rowOf(await messages('to-sort', { metadata: { second: true } }))).toMatchObject({ status: 200, routes: ['to-sort', 'sorted-second'] });
    // It names where the request is: the next one that holds is taken, once.
    expect(await rowOf(await messages('sorted-first', both))).toMatchObject({ status: 200, routes: ['sorted-first', 'sorted-second'] });
  });

  test('a circle is a 502 that says so, and nothing was sent', async () => {
    const before = fake.requests.length;
    const reply = await messages('asked', { metadata: { circle: true } });
    expect([reply.status, fake.requests.length]).toEqual([502, before]);
    expect(await rowOf(reply)).toMatchObject({ status: 502, error_code: 'route_loop', model: 'asked', attempts: [] });
  });

  test('a switch to what is disabled: the caller hears of no name but his own', async () => {
    const reply = await messages('to-nowhere', {});
    expect([reply.status, reply.json.error.type]).toEqual([404, 'not_found_error']);
    expect(reply.text).not.toContain('secret-lab');
    expect(await rowOf(reply)).toMatchObject({ error_code: 'model_not_found', pipeline: ['switch-route'], attempts: [] });
  });

  test('a long way is walked up to the limit of hops', async () => {
    const reached = await messages('hop-1', {});
    expect(await rowOf(reached)).toMatchObject({ status: 200, model: 'hop-1', routes: ['hop-1', 'hop-2', 'hop-3', 'hop-4', 'hop-5', 'hop-6'] });
    const tooFar = await messages('hop-0', {});
    expect(await rowOf(tooFar)).toMatchObject({ status: 502, error_code: 'route_loop' });
  });

  test('the console refuses what cannot work, by field, and explains which rules would fire', async () => {
    const save = (rules: unknown) => gateway.console('PATCH', '/models/both', { request_body_rules: rules });
    const faults = async (rules: unknown) => {
      const { status, body } = await save(rules);
      return [status, ...(body.error.details as { field: string }[]).map(({ field }) => field)];
    };
    expect(
      await faults([
        { mode: 'remove', path: 'a' },
        { mode: 'remove', path: 'messages[].content' },
      ]),
    ).toEqual([422, 'request_body_rules.1.path']);
    expect(await faults([{ mode: 'overwrite', path: 'a.__proto__.b', value: 1 }])).toEqual([422, 'request_body_rules.0.path']);
    expect(await faults([{ mode: 'overwrite', path: 'stream', value: true }])).toEqual([422, 'request_body_rules.0.path']);
    expect(await faults([{ mode: 'switch-route', when: [{ path: 'a' }], use_model: 'nobody' }])).toEqual([422, 'request_body_rules.0.use_model']);
    expect(await faults([{ mode: 'nonsense' }])).toEqual([422, 'request_body_rules.0.mode']);
    const removal = await gateway.console('DELETE', '/models/sees');
    expect([removal.status, removal.body.error.code]).toEqual([422, 'in_use']);
    expect((await gateway.console('DELETE', '/load-balancers/pool')).status).toBe(422);
    const explained = await gateway.console('POST', '/route/explain', {
      access_key: 'caller',
      model: 'asked',
      client_protocol: 'beta',
      body: { messages: [], metadata: { pool: 1, circle: 1 } },
    });
    expect(explained.body.switches).toEqual([
      { owner: 'model:asked', index: 1, use_model: 'pool' },
      { owner: 'model:asked', index: 2, use_model: 'circle' },
    ]);
  });

  test('rules are tried without being saved', async () => {
    const { status, body } = await gateway.console('POST', '/rules/test', {
      protocol: 'beta',
      rules: [
        { mode: 'inject-system-prompt', value: 'For {{header:X-Team}}' },
        { mode: 'remove', path: 'nothing' },
        { mode: 'switch-route', when: [{ path: 'model', equal: 'm' }], use_model: 'anything' },
      ],
      body: { model: 'm', messages: [] },
      context: { headers: { 'X-Team': 'blue' } },
    });
    expect([status, body]).toEqual([
      200,
      {
        body: { model: 'm', messages: [], system: 'For blue' },
        applied: [{ index: 0, mode: 'inject-system-prompt', changes: 1 }],
        switch: { index: 2, use_model: 'anything' },
      },
    ]);
    expect((await gateway.console('POST', '/rules/test', { rules: [{ mode: 'remove', path: 'a..b' }], body: {} })).body.error.details[0].field).toBe(
      'rules.0.path',
    );
  });

  test('what is exported can be imported, rules that name later models included', async () => {
    const exported = await gateway.console('GET', '/export');
    const file = typeof exported.body === 'string' ? exported.body : JSON.stringify(exported.body);
    expect(file).toContain('switch-route');
    const reply = await fetch(`${gateway.consoleUrl}/import?dry_run=true`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.consoleKey}`, 'content-type': typeof exported.body === 'string' ? 'application/yaml' : 'application/json' },
      body: file,
    });
    expect(reply.status).toBe(200);
  });
});
