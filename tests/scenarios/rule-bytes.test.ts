/** Rules on bytes that pass verbatim, through the data plane: what no rule means keeps its spelling, and what a rule means is found however it is spelled. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createAnsweringOutbound, jsonScript } from '../support/scripted-upstream.ts';

const outbound = createAnsweringOutbound();
let gateway: InProcessGateway;
const deep = Array.from({ length: 60 }, (_, at) => `k${at}`);

beforeAll(async () => {
  outbound.answer = () => jsonScript(200, { id: 'c', choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }] });
  gateway = await startInProcess({
    outbound,
    upstreams: [{ name: 'up', protocol: 'alpha', base_url: 'https://up.test', api_keys: [{ key: 'sk-up' }] }],
    models: [
      {
        name: 'm',
        upstream: 'up',
        upstream_model_id: 'real',
        request_body_rules: [
          { mode: 'overwrite', path: 'x_set', value: 0.5 },
          { mode: 'remove', path: 'x_gone' },
          { mode: 'add-if-absent', path: 'é', value: 'ß' },
          { mode: 'overwrite', path: 'metadata.0', value: 'zero' },
          { mode: 'remove', path: 'messages.*.cache' },
          { mode: 'overwrite', path: deep.join('.'), value: 1 },
          { mode: 'strip-lines', path: 'messages.*.content', value: { match: 'regex', value: '^(a+)+$' } },
        ],
      },
    ],
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  outbound.sent.length = 0;
});

const send = async (body: string | Uint8Array): Promise<{ status: number; sent: string | undefined }> => {
  const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body,
  });
  await reply.text();
  return { status: reply.status, sent: outbound.sent[0]?.body };
};

const depth = `,${deep.reduceRight((inner, key) => `{${JSON.stringify(key)}:${inner}}`, '1').slice(1, -1)}`;

test.each([
  [
    'numbers, blanks and escapes of others',
    '{ "model" : "m",\n "seed":12345678901234567890123 , "n":1.0e0,"logit_bias":{"a":-0,"\\u0062":1E+2}, "x_set": 1.00 , "messages":[ {"role":"user","content":"\\u0068i\\/"} ]}',
    `{ "model" : "real",\n "seed":12345678901234567890123 , "n":1.0e0,"logit_bias":{"a":-0,"\\u0062":1E+2}, "x_set": 0.5 , "messages":[ {"role":"user","content":"\\u0068i\\/"} ],"é":"ß"${depth}}`,
  ],
  [
    'keys in escapes, and what comes between',
    '{"model":"m","x_s\\u0065t":1,"x_g\\u006fne":1,"x":[],"\\u00e9":null,"metadata":{"\\u0030":0,"00":1},"messages":[]}',
    `{"model":"real","x_s\\u0065t":0.5,"x":[],"\\u00e9":null,"metadata":{"\\u0030":"zero","00":1},"messages":[]${depth}}`,
  ],
  [
    'keys of prototypes, lists where objects are meant, and the other way round',
    '{"model":"m","__proto__":{"x_set":9},"constructor":1,"metadata":["a","b"],"messages":{"p":{"cache":1,"content":"aaa"},"__proto__":{"cache":1}}}',
    `{"model":"real","__proto__":{"x_set":9},"constructor":1,"metadata":["zero","b"],"messages":{"p":{"content":""},"__proto__":{"cache":1}},"x_set":0.5,"é":"ß"${depth}}`,
  ],
  [
    'what is removed first and alone',
    '{"x_gone":1,"model":"m","x_set":0,"é":0,"metadata":{"0":"zero"},"k0":null,"messages":[{"cache":{"a":[1,{"b":"]"}]}},{"role":"user","cache":"}"},{"cache":1,"z":1}]}',
    `{"model":"real","x_set":0.5,"é":0,"metadata":{"0":"zero"},"k0":${depth.slice(depth.indexOf(':') + 1)},"messages":[{},{"role":"user"},{"z":1}]}`,
  ],
])('%s', async (_name, body, wanted) => {
  const { status, sent } = await send(body);
  expect([status, sent]).toEqual([200, wanted]);
});

test.each([
  '{"model":"m","messages":[{"role":"user","content":"aaa","x":1}],"messages":[]}',
  '{"model":"m","x_gone":0.1,"messages":[],"x_gone":1}',
  '{"model":"m","x_s\\u0065t":1,"x_set":2,"messages":[]}',
  '{"model":"m","messages":[{"role":"user","content":"aaa","x":1,"c\\u006fntent":"b"}]}',
])('a key that is repeated at the top, or where a rule looks at its value, is refused: %s', async (body) => {
  expect(await send(body)).toEqual({ status: 400, sent: undefined });
});

test('a byte order mark, and a repeated model, are refused before any rule', async () => {
  expect(await send(Buffer.from('\ufeff{"model":"m","messages":[]}'))).toEqual({ status: 400, sent: undefined });
  expect(await send('{"model":"m","mod\\u0065l":"x","messages":[]}')).toEqual({ status: 400, sent: undefined });
});

test('2 MB of lines that a backtracking engine would die of', async () => {
  const text = `${'a'.repeat(1_000_000)}!\n${'a'.repeat(1_000_000)}`;
  const began = process.cpuUsage();
  const { status, sent } = await send(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] }));
  expect([status, JSON.parse(sent ?? '').messages[0].content.length]).toEqual([200, 1_000_001]);
  expect(process.cpuUsage(began).user / 1e6).toBeLessThan(20);
});
