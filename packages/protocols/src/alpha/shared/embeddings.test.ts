/** Embeddings that pass: what is read of a reply leads to the same edits and the same usage as all of it. */
import { describe, expect, test } from '@jest/globals';
import { alpha } from '../index.ts';
import { createEmbeddingsReply } from './embeddings.ts';

const numbers = [0.5, -0.25, 1e-3];
const texts = Buffer.from(Float32Array.from(numbers).buffer).toString('base64');
const entries = (embedding: unknown) => [0, 1].map((index) => ({ object: 'embedding', index, embedding }));
const usage = { prompt_tokens: 7, total_tokens: 7 };

const bodies: Record<string, unknown> = {
  numbers: { object: 'list', data: entries(numbers), model: 'vendor', usage },
  'base64, the name first': { model: 'vendor', usage, data: entries(texts), object: 'list' },
  'the caller’s name': { data: entries(texts), model: 'ours' },
  'no vectors': { data: [], model: 'vendor', usage: { total_tokens: 3 } },
  'no data': { model: 'vendor', usage: null },
  'a word of ours': { data: entries(texts), model: 'vendor', _gateway_warning: 'forged' },
};
const replyFor = (asked: string | undefined) =>
  createEmbeddingsReply({
    ...{ operation: 'embed', model: 'ours', mintId: (prefix) => prefix, sealSignature: (signature) => signature },
    requestValue: (key) => (key === 'encoding_format' ? asked : undefined),
  });

describe.each(['float', 'base64', undefined])('asked for %s', (asked) => {
  test.each(Object.entries(bodies))('%s', (_name, body) => {
    const reply = replyFor(asked);
    const found = reply.look!(Buffer.from(JSON.stringify(body, null, 1)));
    if (!found) {
      // Only vectors of the other form take all of it.
      expect(reply.whole(body).some(({ path }) => path[0] === 'data')).toBe(true);
      return;
    }
    expect(reply.whole(found.value)).toEqual(reply.whole(body));
    const read = (json: unknown) => alpha.upstream!.readUnaryUsage!(json);
    expect(read(found.value)?.input).toBe(read(body)?.input);
    expect(Object.hasOwn(found.value as object, '_gateway_warning')).toBe(Object.hasOwn(body as object, '_gateway_warning'));
  });

  test('vectors that stay are not read', () => {
    const found = replyFor(asked).look!(Buffer.from(JSON.stringify({ data: entries(asked === 'base64' ? texts : numbers), model: 'vendor', usage })));
    expect(found?.value).toMatchObject({ model: 'vendor', usage });
    expect(JSON.stringify(found?.value)).not.toMatch(/0\.25|AAAAP/);
  });

  test.each(['', '{', '[]', '{"model":1,"model":2}', '{"data":[', 'null'])('%j is left to the parser, or holds nothing to change', (text) => {
    const found = replyFor(asked).look!(Buffer.from(text));
    if (found) expect(replyFor(asked).whole(found.value)).toEqual(replyFor(asked).whole(JSON.parse(text)));
  });
});
