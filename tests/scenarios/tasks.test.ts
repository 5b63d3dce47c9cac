/** Asynchronous tasks: begun, asked about and billed, in either arrangement, against a vendor that knows its accounts apart; and beside them images and native services. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RequestRow } from '@model-gateway/contracts';
import { mintAccessKey } from '@model-gateway/secrets';
import { TaskVendor } from '../fake-upstream/task-vendor.ts';
import { type Answer, AnsweringServer, answerJson } from '../support/answering-server.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely.
type Json = any;

const submitPath = '/v1/services/aigc/video-generation/video-synthesis';

describe.each(arrangements('tasks'))('tasks, %s', (arrangement) => {
  const server = new AnsweringServer();
  const vendor = new TaskVendor(['sk-vendor-one', 'sk-vendor-two'], ['wan2.5-t2v', 'wanx-v1']);
  let gateway: TestGateway;
  const [otherKey, narrowKey, frugalKey] = [mintAccessKey(), mintAccessKey(), mintAccessKey()];

  const configuration = (keys: readonly string[]) => ({
    upstreams: [
      { name: 'vendor', protocol: 'delta' as const, base_url: server.address, api_keys: keys.map((key) => ({ key })) },
      { name: 'painter', protocol: 'alpha_images' as const, base_url: `${server.address}/painter`, api_keys: [{ key: 'sk-of-painter' }] },
    ],
    models: [
      {
        name: 'video',
        aliases: ['films'],
        upstream: 'vendor',
        upstream_model_id: 'wan2.5-t2v',
        direct_path: true,
        base_url: `${server.address}/api/v1/services/aigc/video-generation/video-synthesis`,
        extra_config: { async_mode: true },
      },
      { name: 'brief', upstream: 'vendor', upstream_model_id: 'wan2.5-t2v', extra_config: { async_mode: true } },
      { name: 'pictures', upstream: 'vendor', upstream_model_id: 'wanx-v1' },
      { name: 'portraits', upstream: 'painter', upstream_model_id: 'gpt-image-2' },
      { name: 'sketches', upstream: 'vendor', upstream_model_id: 'qwen-image', kind: 'delta-multimodal' },
    ],
    key_groups: [{ name: 'narrow', models: ['video'] }],
    access_keys: [
      { name: 'other', group: 'everyone', key: otherKey },
      { name: 'narrow', group: 'narrow', key: narrowKey },
      { name: 'frugal', group: 'everyone', key: frugalKey, budget: { limit: 1.5, period: 'total' as const, currency: 'USD' } },
    ],
  });

  beforeAll(async () => {
    await server.start();
    vendor.serve(server);
    gateway = await startGateway({ arrangement, ...(arrangement === 'split' && { twice: ['translator' as const] }) });
    await gateway.configure(configuration(['sk-vendor-one']));
    const priced = await gateway.console('POST', '/pricing', { name: 'films', model: 'video', mode: 'per_second', unit: '100000' });
    expect(priced).toMatchObject({ status: 201 });
    for (const model of ['portraits', 'sketches'])
      expect(await gateway.console('POST', '/pricing', { name: model, model, mode: 'per_image', unit: '40000' })).toMatchObject({ status: 201 });
    await gateway.settle();
  });
  afterAll(async () => {
    await gateway?.stop();
    server.stop();
  });

  const call = async (
    method: string,
    path: string,
    { key = gateway.key, body, headers = {} }: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
  ) => {
    const answer = await fetch(`${gateway.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Json };
  };
  const submit = async (key = gateway.key, id = `submit-${Math.random()}`): Promise<string> => {
    const answer = await call('POST', submitPath, { key, body: { model: 'films', input: { prompt: 'a cat' } }, headers: { 'z-request-id': id } });
    expect(answer).toMatchObject({ status: 200, body: { output: { task_status: 'PENDING' } } });
    return answer.body.output.task_id as string;
  };
  const rowsOf = async (id: string): Promise<RequestRow[]> => (await gateway.rows()).filter((row) => row.id === id);

  test('the id is the gateway’s; it is asked about at both paths, by every name of the model, and billed once by what it made', async () => {
    const id = await submit(gateway.key, 'a-film');
    expect(id).toMatch(/^task_/);
    expect(vendor.tasks.has(id)).toBe(false);
    for (const path of [`/v1/services/video/tasks/${id}`, `/v1/services/films/tasks/${id}`, `/v1/tasks/${id}`])
      expect(await call('GET', path)).toMatchObject({ status: 200, body: { output: { task_id: id, task_status: 'PENDING' } } });
    vendor.succeed(vendor.newest, { video_url: 'https://files.example/1.mp4' }, { video_duration: 5, video_count: 1 });
    const done = {
      status: 200,
      body: { output: { task_id: id, task_status: 'SUCCEEDED', video_url: 'https://files.example/1.mp4' }, usage: { video_duration: 5 } },
    };
    const answers = await Promise.all(Array.from({ length: 8 }, () => call('GET', `/v1/tasks/${id}`)));
    for (const answer of answers) expect(answer).toMatchObject(done);
    await until(async () => (await rowsOf(id)).length > 0, 'the row of the task');
    const [row, ...more] = await rowsOf(id);
    expect(more).toEqual([]);
    expect(row).toMatchObject({
      kind: 'task',
      model: 'video',
      requested_model: 'films',
      seconds: 5,
      cost_micros: 500_000,
      access_key: 'caller',
      error_code: null,
    });
    const begun = (await gateway.rows()).find((one) => one.client_request_id === 'a-film' && one.kind === 'call');
    expect(begun).toMatchObject({ status: 200, cost_micros: null });
    expect(row?.of).toBe(begun?.id);
    // What the vendor has forgotten meanwhile is still known here.
    vendor.tasks.clear();
    expect(await call('GET', `/v1/tasks/${id}`)).toMatchObject(done);
  });

  test('a task that nobody asks about is billed all the same; one that failed costs nothing', async () => {
    const films = await submit();
    vendor.succeed(vendor.newest, {}, { video_duration: 2.2 });
    const failed = await submit();
    vendor.fail(vendor.newest, 'DataInspectionFailed');
    await until(async () => (await rowsOf(films)).length + (await rowsOf(failed)).length === 2, 'both rows', 60_000);
    // Rows count begun seconds.
    expect(await rowsOf(films)).toMatchObject([{ seconds: 3, error_code: null }]);
    expect(await rowsOf(failed)).toMatchObject([{ cost_micros: null, error_code: 'task_failed', status: 200 }]);
    expect(await call('GET', `/v1/tasks/${failed}`)).toMatchObject({
      status: 200,
      body: { output: { task_id: failed, task_status: 'FAILED', code: 'DataInspectionFailed' } },
    });
  });

  test('a caller asks for a task by the vendor’s header, too; where neither it nor the model’s setting asks for one, the vendor refuses the call', async () => {
    const path = '/v1/services/aigc/text2image/image-synthesis';
    const body = { model: 'pictures', input: { prompt: 'a cat' } };
    expect(await call('POST', path, { body })).toMatchObject({
      status: 502,
      body: { error: { message: 'The upstream failed.' } },
    });
    const answer = await call('POST', path, { body, headers: { 'X-DashScope-Async': 'enable' } });
    const id = answer.body.output.task_id as string;
    vendor.succeed(vendor.newest, { results: [{ url: 'https://files.example/1.png' }] }, { image_count: 4 });
    expect(await call('GET', `/v1/services/pictures/tasks/${id}`)).toMatchObject({ status: 200, body: { usage: { image_count: 4 } } });
    await until(async () => (await rowsOf(id)).length > 0, 'the row');
    expect(await rowsOf(id)).toMatchObject([{ images: 4, kind: 'task' }]);
  });

  test('images that are waited for: one row; a task whose caller leaves is billed when it ends', async () => {
    const ask = (id: string, signal?: AbortSignal) =>
      fetch(`${gateway.url}/v1/images/generations`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': id },
        body: JSON.stringify({ model: 'pictures', prompt: id }),
        ...(signal && { signal }),
      });
    const rowOf = async (id: string) => (await gateway.rows()).filter((row) => row.client_request_id === id);
    const begun = (before: string) => until(async () => vendor.newest !== before && (vendor.tasks.get(vendor.newest)?.polls ?? 0) > 0, 'a look at the task');
    const image = { results: [{ url: 'https://files.example/1.png' }] };

    let before = vendor.newest;
    const waiting = ask('an-image');
    await begun(before);
    vendor.succeed(vendor.newest, image, { image_count: 1 });
    expect(await (await waiting).json()).toMatchObject({ data: [{ url: 'https://files.example/1.png' }] });
    await until(async () => (await rowOf('an-image')).length > 0, 'the row');
    expect(await rowOf('an-image')).toMatchObject([{ kind: 'call', images: 1, status: 200 }]);

    before = vendor.newest;
    const leaving = new AbortController();
    const left = ask('left', leaving.signal).catch((error: unknown) => error);
    await begun(before);
    vendor.run(vendor.newest);
    leaving.abort();
    await left;
    vendor.succeed(vendor.newest, image, { image_count: 1 });
    await until(async () => (await rowOf('left')).length === 2, 'the rows of the call and its task', 60_000);
    const [call, task] = (await rowOf('left')).sort((one, other) => String(one.kind).localeCompare(String(other.kind)));
    expect(call).toMatchObject({ kind: 'call', error_code: 'client_gone' });
    expect(task).toMatchObject({ kind: 'task', of: call?.id, images: 1, error_code: null });
  });

  test('foreign, unknown and another model’s are one 404; without the grant 403', async () => {
    const id = await submit(narrowKey);
    const missing = [
      await call('GET', `/v1/tasks/${id}`, { key: otherKey }),
      await call('GET', `/v1/tasks/task_nothing`),
      await call('GET', `/v1/services/pictures/tasks/${id}`, { key: narrowKey }),
      await call('GET', `/v1/services/nobody/tasks/${id}`, { key: narrowKey }),
      await call('POST', `/v1/tasks/${id}/cancel`, { key: otherKey }),
    ];
    const message = expect.stringMatching(/^Task '.+' not found\.$/);
    // The vendor’s SDK reads the words beside `error`.
    for (const one of missing)
      expect(one).toMatchObject({ status: 404, body: { error: { message }, code: 'not_found', message, request_id: expect.any(String) } });
    expect(await call('GET', `/v1/services/video/tasks/${id}`, { key: narrowKey })).toMatchObject({ status: 200 });
    await gateway.configure({ key_groups: [{ name: 'narrow', models: ['pictures'] }] });
    expect(await call('GET', `/v1/tasks/${id}`, { key: narrowKey })).toMatchObject({ status: 403 });
    await gateway.configure({ key_groups: [{ name: 'narrow', models: ['video'] }] });
    expect((await call('GET', '/v1/services/aigc/video-generation/video-synthesis')).status).toBe(405);
    // A name that is hidden later is found no more, whoever knew it; an alias is.
    await gateway.console('PATCH', '/models/video', { hide_name: true });
    await gateway.settle();
    expect(await call('GET', `/v1/services/video/tasks/${id}`, { key: narrowKey })).toMatchObject({ status: 404, body: { error: { message } } });
    expect(await call('GET', `/v1/services/films/tasks/${id}`, { key: narrowKey })).toMatchObject({ status: 200 });
    await gateway.console('PATCH', '/models/video', { hide_name: false });
    await gateway.settle();
  });

  test('what a task may cost is reserved until it ends: many at once do not overrun a budget, whatever starts anew meanwhile', async () => {
    const film = (duration: number) =>
      call('POST', submitPath, { key: frugalKey, body: { model: 'video', input: { prompt: 'a cat' }, parameters: { duration } } });
    const before = new Set(vendor.tasks.keys());
    // A second costs 0.10: a film of ten seconds may begin while anything of 1.50 is left.
    const answers = await Promise.all(Array.from({ length: 8 }, () => film(10)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    for (const refused of answers.filter(({ status }) => status !== 200))
      expect(refused).toMatchObject({ status: 402, body: { error: { message: expect.stringContaining('tasks under way') } } });
    const [first, second, ...more] = [...vendor.tasks.keys()].filter((id) => !before.has(id));
    expect(more).toEqual([]);
    for (const name of arrangement === 'split' ? ['edge', 'translator', 'stats'] : ['gateway']) {
      await gateway.processes[name]!.kill('SIGKILL');
      await gateway.processes[name]!.restart();
    }
    await until(async () => [200, 402].includes((await film(10).catch(() => ({ status: 0 }))).status), 'an answer');
    expect((await film(10)).status).toBe(402);
    vendor.succeed(first!, {}, { video_duration: 5 });
    vendor.fail(second!, 'DataInspectionFailed');
    await until(async () => (await film(1)).status === 200, 'what the ended tasks held is free', 90_000);
    // 0.50 is spent, and one second reserved.
    expect((await film(10)).status).toBe(200);
    expect((await film(1)).status).toBe(402);
  });

  describe('beside tasks', () => {
    const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(100_000, 7)]);
    const b64 = png.toString('base64');
    const serviceAnswer = {
      output: { choices: [{ message: { content: [{ image: 'https://files.example/1.png' }] } }] },
      usage: { image_count: 2 },
      request_id: 'r',
    };
    const nativePath = '/v1/services/aigc/multimodal-generation/generation';
    let before: Answer;
    beforeAll(() => {
      before = server.answer;
      server.answer = (response, asked) => {
        if (asked.path.startsWith('/painter/')) {
          if (asked.body.includes('"stream":true')) {
            response.writeHead(200, { 'content-type': 'text/event-stream' });
            for (const type of ['partial_image', 'completed'])
              response.write(
                `event: image_generation.${type}\ndata: ${JSON.stringify({ type: `image_generation.${type}`, b64_json: b64, created_at: 5 })}\n\n`,
              );
            return void response.end();
          }
          return answerJson({ created: 5, data: [{ b64_json: b64 }, { b64_json: b64 }, { b64_json: b64 }] })(response, asked);
        }
        if (asked.path.includes('/multimodal-generation/generation')) return answerJson(serviceAnswer)(response, asked);
        return before(response, asked);
      };
    });
    afterAll(() => {
      server.answer = before;
    });
    const lastAsked = (part: string) => server.received.findLast(({ path }) => path.includes(part))!;
    const rowFor = async (id: string): Promise<RequestRow> => {
      const find = async () => (await gateway.rows()).find((row) => row.client_request_id === id);
      await until(async () => (await find()) !== undefined, `the row of ${id}`);
      return (await find())!;
    };

    test('images as JSON, as a form and as a stream: whole, counted and priced', async () => {
      const headers = { 'z-request-id': `json-${arrangement}` };
      const made = await call('POST', '/v1/images/generations', { body: { model: 'portraits', prompt: 'a cat', n: 3 }, headers });
      expect(made).toMatchObject({ status: 200, body: { data: [{ b64_json: b64 }, { b64_json: b64 }, { b64_json: b64 }] } });
      expect(lastAsked('/painter/').headers.authorization).toBe('Bearer sk-of-painter');
      expect(await rowFor(headers['z-request-id'])).toMatchObject({ status: 200, model: 'portraits', images: 3, cost_micros: 120_000 });

      const form = new FormData();
      for (const [name, text] of Object.entries({ model: 'portraits', prompt: 'a dog', n: '3' })) form.append(name, text);
      for (const name of ['a', 'ü']) form.append('image[]', new Blob([png], { type: 'image/png' }), `${name}.png`);
      const edited = await fetch(`${gateway.url}/v1/images/edits`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'z-request-id': `form-${arrangement}` },
        body: form,
      });
      expect(edited.status).toBe(200);
      expect(await edited.json()).toMatchObject({ data: [{ b64_json: b64 }, {}, {}] });
      const { path, body, headers: sent } = lastAsked('/painter/');
      expect(path).toBe('/painter/v1/images/edits');
      const received = await new Response(new Uint8Array(body), { headers: { 'content-type': String(sent['content-type']) } }).formData();
      expect([received.get('model'), received.getAll('image[]').map((file) => (file as File).name)]).toEqual(['gpt-image-2', ['a.png', 'ü.png']]);
      expect(Buffer.from(await (received.getAll('image[]')[1] as File).arrayBuffer()).equals(png)).toBe(true);
      expect(await rowFor(`form-${arrangement}`)).toMatchObject({ images: 3, cost_micros: 120_000 });

      const streamed = await fetch(`${gateway.url}/v1/images/generations`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'portraits', prompt: 'a cat', stream: true }),
      });
      const text = await streamed.text();
      expect(text.match(/^event: .*$/gm)).toEqual(['event: image_generation.partial_image', 'event: image_generation.completed']);
      expect(text.split(b64)).toHaveLength(3);
    });

    test('native services: the model alone exchanged, the answer as it is, with a row of what it made', async () => {
      const body = { model: 'sketches', input: { messages: [{ role: 'user', content: [{ text: 'a cat' }] }] }, parameters: { n: 2 } };
      const answer = await call('POST', `${nativePath}?x=1`, {
        body,
        headers: { 'X-DashScope-OssResourceResolve': 'enable', 'z-request-id': `native-${arrangement}` },
      });
      expect(answer).toEqual({ status: 200, body: serviceAnswer });
      const { path, headers, body: sent } = lastAsked('/multimodal-generation/generation');
      expect(path).toBe('/api/v1/services/aigc/multimodal-generation/generation?x=1');
      expect(headers).toMatchObject({ authorization: expect.stringMatching(/^Bearer sk-vendor-/), 'x-dashscope-ossresourceresolve': 'enable' });
      expect(JSON.parse(sent.toString())).toEqual({ ...body, model: 'qwen-image' });
      const row = await rowFor(`native-${arrangement}`);
      expect(row).toMatchObject({ kind: 'call', model: 'sketches', images: 2, cost_micros: 80_000, path: `POST ${nativePath}` });
      expect((await gateway.console('GET', `/tasks?request=${row.id}`)).body.items).toEqual([]);
    });

    test('any call of an upstream, byte for byte', async () => {
      const bytes = '{ "model":"qwen-image" ,\n"input": {} }';
      const passed = await fetch(`${gateway.url}/v3/sketches/api/v1/services/aigc/multimodal-generation/generation?a%2Fb=1&c`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': `v3-${arrangement}` },
        body: bytes,
      });
      expect([passed.status, await passed.json()]).toEqual([200, serviceAnswer]);
      const { path, body } = lastAsked('/multimodal-generation/generation');
      expect([path, body.toString()]).toEqual(['/api/v1/services/aigc/multimodal-generation/generation?a%2Fb=1&c', bytes]);
      expect(await rowFor(`v3-${arrangement}`)).toMatchObject({ model: 'sketches', status: 200, images: 2 });
    });
  });

  test('a pending task is cancelled, one that runs is not', async () => {
    const id = await submit();
    expect(await call('POST', `/v1/tasks/${id}/cancel`)).toMatchObject({ status: 200 });
    expect(await call('GET', `/v1/tasks/${id}`)).toMatchObject({ body: { output: { task_id: id, task_status: 'CANCELED' } } });
    const running = await submit();
    vendor.succeed(vendor.newest, {}, { video_duration: 1 });
    const refused = await call('POST', `/v1/tasks/${running}/cancel`);
    expect(refused).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining('Failed to cancel') } } });
  });

  test('an operator finds a task by its request, and cancels it whatever its caller may still use', async () => {
    const id = await submit(narrowKey, `operated-${arrangement}`);
    await until(async () => (await gateway.rows()).some((row) => row.client_request_id === `operated-${arrangement}`), 'the row of the call');
    const row = (await gateway.rows()).find((one) => one.client_request_id === `operated-${arrangement}`)!;
    const listed = await gateway.console('GET', `/tasks?state=running&access_key=narrow&model=video&request=${row.id}`);
    expect(listed.body.items).toMatchObject([{ id, requested_model: 'films', upstream: 'vendor', account_gone: false }]);
    await gateway.configure({ key_groups: [{ name: 'narrow', models: ['pictures'] }] });
    expect((await gateway.console('DELETE', `/tasks/${id}`)).status).toBe(204);
    await gateway.configure({ key_groups: [{ name: 'narrow', models: ['video'] }] });
    await until(async () => (await gateway.console('GET', `/tasks?id=${id}`)).body.items[0].state === 'canceled', 'its end', 60_000);
    expect((await gateway.console('DELETE', `/tasks/${id}`)).status).toBe(409);
  });

  test('a task whose model is deleted is out of reach, and says so', async () => {
    const begun = await call('POST', submitPath, { body: { model: 'brief', input: {} } });
    const message = expect.stringContaining('or the model that took this task');
    await gateway.console('DELETE', '/models/brief').then(() => gateway.settle());
    expect(await call('GET', `/v1/tasks/${begun.body.output.task_id}`)).toMatchObject({ status: 410, body: { code: 'task_gone', message } });
  });

  test('each account is asked about its own tasks, whichever other keys come and go; without it 410, and the task is kept', async () => {
    const id = await submit();
    const upstreamId = vendor.newest;
    const listed = await gateway.console('GET', '/upstreams/vendor');
    const kept = listed.body.api_keys[0];
    await gateway.console('PATCH', '/upstreams/vendor', { api_keys: [{ key: 'sk-vendor-two' }, kept] }, { 'if-match': listed.headers.get('etag') ?? '' });
    await gateway.settle();
    vendor.foreignPolls = 0;
    for (let i = 0; i < 6; i++) expect(await call('GET', `/v1/tasks/${id}`)).toMatchObject({ status: 200, body: { output: { task_status: 'PENDING' } } });
    expect(vendor.foreignPolls).toBe(0);
    await gateway.configure(configuration(['sk-vendor-two']));
    expect(await call('GET', `/v1/tasks/${id}`)).toMatchObject({ status: 410, body: { error: { code: 'task_gone' } } });
    expect(vendor.tasks.get(upstreamId)?.output['task_status']).toBe('PENDING');
    const shown = await gateway.console('GET', `/tasks?account_gone=true&id=${id}`);
    expect(shown.body.items).toMatchObject([{ id, state: 'running', upstream_task: upstreamId, account_gone: true, access_key: 'caller', model: 'video' }]);
    expect((await gateway.console('DELETE', `/tasks/${id}`)).status).toBe(410);
    await gateway.configure(configuration(['sk-vendor-one', 'sk-vendor-two']));
  });

  test('a task of a model that has moved to another upstream is asked about where it runs, and its account is not shown to the other', async () => {
    const id = await submit();
    const other = new AnsweringServer();
    await other.start();
    const [video] = configuration([]).models;
    await gateway.configure({
      upstreams: [{ name: 'newcomer', protocol: 'delta', base_url: other.address, api_keys: [{ key: 'sk-newcomer' }] }],
      models: [{ ...video!, upstream: 'newcomer', base_url: `${other.address}/api/v1/services/aigc/video-generation/video-synthesis` }],
    });
    expect(await call('GET', `/v1/tasks/${id}`)).toMatchObject({ status: 200, body: { output: { task_id: id, task_status: 'PENDING' } } });
    vendor.succeed(vendor.newest, {}, { video_duration: 1 });
    expect(await call('GET', `/v1/tasks/${id}`)).toMatchObject({ status: 200, body: { output: { task_status: 'SUCCEEDED' } } });
    expect(other.received).toEqual([]);
    await gateway.configure({ models: [video!] });
    other.stop();
  });

  test('what the vendor does not find for a moment is not over', async () => {
    const id = await submit();
    const upstreamId = vendor.newest;
    vendor.hidden.add(upstreamId);
    expect(await call('GET', `/v1/tasks/${id}`)).toMatchObject({ status: 200, body: { output: { task_id: id, task_status: 'UNKNOWN' } } });
    vendor.hidden.delete(upstreamId);
    expect(await call('GET', `/v1/tasks/${id}`)).toMatchObject({ status: 200, body: { output: { task_status: 'PENDING' } } });
    vendor.succeed(upstreamId, {}, { video_duration: 4 });
    expect(await call('GET', `/v1/tasks/${id}`)).toMatchObject({ status: 200, body: { output: { task_status: 'SUCCEEDED' } } });
    await until(async () => (await rowsOf(id)).length > 0, 'the row');
    expect(await rowsOf(id)).toMatchObject([{ seconds: 4, cost_micros: 400_000 }]);
  });

  test('a task whose caller left before it was told of it is billed', async () => {
    let tell = (): void => undefined;
    vendor.tells = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const before = vendor.tasks.size;
    const leaving = new AbortController();
    const asked = fetch(`${gateway.url}${submitPath}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': `left-${arrangement}` },
      body: JSON.stringify({ model: 'video', input: { prompt: 'a cat' } }),
      signal: leaving.signal,
    }).catch(() => undefined);
    await until(async () => vendor.tasks.size > before, 'the task at the vendor');
    const upstreamId = vendor.newest;
    leaving.abort();
    await asked;
    const rowsWith = async (kind: RequestRow['kind']) =>
      (await gateway.rows()).filter((row) => row.client_request_id === `left-${arrangement}` && row.kind === kind);
    // The gateway has seen that its caller left.
    await until(async () => (await rowsWith('call')).length > 0, 'the row of the call');
    vendor.succeed(upstreamId, {}, { video_duration: 6 });
    tell();
    vendor.tells = Promise.resolve();
    await until(async () => (await rowsWith('task')).length > 0, 'the row of the task', 60_000);
    expect(await rowsWith('task')).toMatchObject([{ seconds: 6, cost_micros: 600_000 }]);
  });

  test('the vendor may pack its answers', async () => {
    vendor.packs = true;
    try {
      const id = await submit();
      expect(await call('GET', `/v1/tasks/${id}`)).toMatchObject({ status: 200, body: { output: { task_id: id } } });
    } finally {
      vendor.packs = false;
    }
  });

  test('the vendor’s own paths are served, too, and its words never hold its own id', async () => {
    const answer = await call('POST', `/api${submitPath}`, { body: { model: 'video', input: { prompt: 'a cat' } } });
    expect(answer).toMatchObject({ status: 200, body: { output: { task_id: expect.stringMatching(/^task_/) } } });
    const id = answer.body.output.task_id as string;
    const upstreamId = vendor.newest;
    expect(await call('GET', `/api/v1/tasks/${id}`)).toMatchObject({ status: 200, body: { output: { task_id: id } } });
    expect(await call('GET', `/api/v1/services/video/tasks/${id}`)).toMatchObject({ status: 200 });
    expect((await call('GET', `/api/v1/tasks/${id}`, { key: otherKey })).status).toBe(404);
    vendor.succeed(upstreamId, {}, { video_duration: 1 });
    const refused = await call('POST', `/api/v1/tasks/${id}/cancel`);
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).not.toContain(upstreamId);
    expect(JSON.stringify(refused.body)).toContain(id);
  });

  test('a grant that is gone is gone, whatever has become of the name that was asked for', async () => {
    const id = await submit(narrowKey);
    const [video, pictures] = configuration([]).models;
    await gateway.configure({ models: [{ ...video!, aliases: ['movies'] }, pictures!], key_groups: [{ name: 'narrow', models: ['pictures'] }] });
    expect((await call('GET', `/v1/tasks/${id}`, { key: narrowKey })).status).toBe(403);
    await gateway.configure({ models: [video!, pictures!], key_groups: [{ name: 'narrow', models: ['video'] }] });
    expect((await call('GET', `/v1/tasks/${id}`, { key: narrowKey })).status).toBe(200);
  });

  if (arrangement === 'split')
    test('a task that begins while its store starts anew is kept', async () => {
      let tell = (): void => undefined;
      vendor.tells = new Promise<void>((resolve) => {
        tell = resolve;
      });
      const before = vendor.tasks.size;
      const submitting = submit();
      await until(async () => vendor.tasks.size > before, 'the task at the vendor');
      await gateway.processes['stats']!.kill('SIGKILL');
      tell();
      vendor.tells = Promise.resolve();
      await gateway.processes['stats']!.restart();
      const id = await submitting;
      expect(await call('GET', `/v1/tasks/${id}`)).toMatchObject({ status: 200, body: { output: { task_id: id } } });
    });

  if (arrangement === 'split')
    test('a translator that dies leaves its tasks to the other; none is billed twice', async () => {
      const ids = await Promise.all(Array.from({ length: 6 }, () => submit()));
      for (const [id, { output }] of vendor.tasks) if (output['task_status'] === 'PENDING') vendor.succeed(id, {}, { video_duration: 1 });
      await gateway.processes['translator']!.kill('SIGKILL');
      await until(async () => (await Promise.all(ids.map(rowsOf))).every((rows) => rows.length === 1), 'a row of each', 120_000);
      expect((await Promise.all(ids.map(rowsOf))).map((rows) => rows.length)).toEqual(ids.map(() => 1));
    });
});
