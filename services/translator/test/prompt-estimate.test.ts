/** What the row says of a prompt that no upstream counted: files in it are no text. */
import { describe, expect, test } from '@jest/globals';
import type { Job, ProtocolId } from '@model-gateway/contracts';
import { questionsOf } from '@model-gateway/protocols';
import { RequestBody } from '../src/request/body.ts';
import { findClient, type RequestContext } from '../src/request/context.ts';
import { RequestRecord } from '../src/request/record.ts';

const picture = 'iVBORw0KGgoA'.repeat(100_000);
const words = 'What is in this picture? '.repeat(400);
const chat = (content: unknown) => ({ model: 'm', messages: [{ role: 'user', content }] });
const messages = (content: unknown) => ({ ...chat(content), max_tokens: 9 });

/** What the limits of an upstream take such a body as; `files`: what the edge found. */
function limitedAs(text: string, files?: Job['places']['files']): number {
  const job = { clientProtocol: 'alpha', operation: 'generate', path: '/', headers: {}, places: {} } as unknown as Job;
  const client = findClient(job);
  job.places = { questions: questionsOf(client).id, values: {}, end: text.length - 1, words: [], ...(files && { files }) };
  return RequestBody.ofJob({ job, client }, Buffer.from(text)).limitTokens();
}

function inputOf(protocol: ProtocolId, text: string): number {
  const job = {
    clientProtocol: protocol,
    operation: 'generate',
    requestedModel: 'm',
    path: '/',
    headers: {},
    streamForm: 'none',
    plan: { model: 'm' },
    places: {},
  } as unknown as Job;
  const client = findClient(job);
  const body = RequestBody.ofJob({ job, client }, Buffer.from(text));
  const record = new RequestRecord({ job, client } as RequestContext, body);
  record.meter.see([{ type: 'text-delta', index: 0, text: 'A cat.' }]);
  const { tokens, source } = record.settle(true);
  expect(source).toBe('estimated');
  return tokens.input;
}

describe('limits of tokens', () => {
  const text = JSON.stringify(chat([{ type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } }]));

  test('a picture counts as one: by what the edge found, else by reading the body that a rule made', () => {
    expect(limitedAs(text, { bytes: picture.length + 24, tokens: 1_600 })).toBeLessThan(1_700);
    const job = { clientProtocol: 'alpha', operation: 'generate', path: '/', headers: {}, places: {} } as unknown as Job;
    expect(RequestBody.ofJob({ job, client: findClient(job) }, Buffer.from(text)).limitTokens()).toBeLessThan(1_700);
  });

  test('text alone counts by its bytes, unread', () => {
    expect(limitedAs(`not JSON ${words}`)).toBe(Math.ceil((9 + words.length) / 4));
  });
});

describe('an estimated prompt', () => {
  test.each([
    [
      'alpha',
      chat([
        { type: 'text', text: words },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } },
      ]),
    ],
    [
      'beta',
      messages([
        { type: 'text', text: words },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: picture } },
      ]),
    ],
  ] as const)('%s: a picture counts as one, not by its bytes', (protocol, body) => {
    const input = inputOf(protocol, JSON.stringify(body));
    expect(input).toBeGreaterThan(words.length / 4);
    expect(input).toBeLessThan(words.length / 4 + 2_000);
  });

  test('text alone counts by its bytes', () => {
    const text = JSON.stringify(chat(words));
    expect(inputOf('alpha', text)).toBe(Math.ceil(text.length / 4));
  });

  test('a body that cannot be read counts by its bytes', () => {
    const text = `not JSON ${words}`;
    expect(inputOf('alpha', text)).toBe(Math.ceil(text.length / 4));
  });
});
