/** Verbatim edits: what changes, and that every other byte stays. */
import { describe, expect, test } from '@jest/globals';
import { applyEdits, type Edit } from '@model-gateway/json-bytes';
import type { VerbatimRequestContext } from '../../contract/index.ts';
import { seal, verbatimReplyContext, writeContext } from '../test-support.ts';
import { verbatim } from './verbatim-rules.ts';

function editRequest(
  text: string,
  model = 'gemini-2.5-flash',
  operation: 'generate' | 'count-tokens' = 'generate',
): { text: string; losses: number; parsed: boolean } {
  let parsed = false;
  const context: VerbatimRequestContext = {
    ...writeContext(model),
    operation,
    contains: (word) => text.includes(word),
    parse: () => {
      parsed = true;
      return JSON.parse(text) as unknown;
    },
  };
  const { edits, losses } = verbatim.requestEdits(context);
  return { text: applyEdits(text, edits), losses: losses.length, parsed };
}

const editRecord = (text: string): string => {
  const edits = verbatim.createReply(verbatimReplyContext()).record({ data: text, json: JSON.parse(text) as unknown });
  return applyEdits(text, edits as Edit[]);
};

describe('requests', () => {
  test('without a signature nothing is parsed', () => {
    const text = '{ "contents":[{"parts":[{"text":"é\\u00e9"}]}] }';
    expect(editRequest(text)).toEqual({ text, losses: 0, parsed: false });
  });

  test.each(['generate', 'count-tokens'] as const)('%s: a model that the body names becomes the one of the path', (operation) => {
    const text = '{ "model" : "models/another", "contents":[{"parts":[{"text":"\\u00e9"}]}], "x": {"model":"y"} }';
    expect(editRequest(text, 'gemini-2.5-flash', operation)).toEqual({
      text: text.replace('models/another', 'models/gemini-2.5-flash'),
      losses: 0,
      parsed: false,
    });
  });

  test('signatures are opened in place, in both spellings and in base64url', () => {
    const part = (name: string, value: string): string => `{ "functionCall": {"name":"f",  "args":{"n":1.0}}, "${name}" : "${value}" }`;
    const text = `{"contents" : [ {"role":"user","parts":[{"text":"\\u0041"}]}, {"parts":[ ${part('thoughtSignature', seal('ab-_'))},${part('thought_signature', seal('QQ=='))} ] } ],"x":1e2}`;
    const expected = text.replace(seal('ab-_'), 'ab+/').replace(seal('QQ=='), 'QQ==');
    expect(editRequest(text)).toEqual({ text: expected, losses: 0, parsed: true });
  });

  describe('results that a history holds twice', () => {
    const call = (name: string, id?: string) => ({ functionCall: { ...(id && { id }), name, args: {} } });
    const result = (name: string, id?: string) => ({ functionResponse: { ...(id && { id }), name, response: { output: name } } });
    const user = (...parts: object[]) => ({ role: 'user', parts });
    const model = (...parts: object[]) => ({ role: 'model', parts });
    const sent = (contents: object[]) => (JSON.parse(editRequest(JSON.stringify({ contents })).text) as { contents: object[] }).contents;

    test('a second content with the same results goes', () => {
      const contents = [user({ text: 'go' }), model(call('f', '1'), call('g', '2')), user(result('f', '1'), result('g', '2'))];
      const after = [model({ text: 'done' }), user({ text: 'on' })];
      expect(sent([...contents, user(result('f', '1'), result('g', '2')), ...after])).toEqual([...contents, ...after]);
      expect(sent([...contents, user(result('f', '1'), { text: 'and' }), ...after])).toEqual([...contents, user({ text: 'and' }), ...after]);
    });

    test('results of one content twice, with ids, without them, and in snake case', () => {
      expect(sent([model(call('f', '1')), user(result('f', '1'), result('f', '1'))])).toEqual([model(call('f', '1')), user(result('f', '1'))]);
      expect(sent([model(call('f')), user(result('f'), result('f'))])).toEqual([model(call('f')), user(result('f'))]);
      const snake = { function_response: { name: 'f', response: {} } };
      expect(sent([model({ function_call: { name: 'f' } }), user(snake, snake)])).toEqual([model({ function_call: { name: 'f' } }), user(snake)]);
      expect(editRequest(JSON.stringify({ contents: [model(call('f')), user(result('f'), result('f'))] })).losses).toBe(1);
    });

    test('results of a turn that is split over several contents', () => {
      const results = user(result('f', '1'), result('g', '2'));
      expect(sent([model(call('f', '1')), model(call('g', '2')), results, results])).toEqual([model(call('f', '1'), call('g', '2')), results]);
    });

    test('what may be sent stays as it is, byte by byte', () => {
      for (const contents of [
        [model(call('f'), call('f')), user(result('f'), result('f'))],
        [model(call('f')), user(result('f')), model(call('f')), user(result('f'))],
        [model(call('f', '1'), call('f', '2')), user(result('f', '2')), user(result('f', '1'))],
        [model(call('f')), user(result('other'))],
        [model(call('f', '1')), user(result('f', '1'), result('f', '2'))],
        [user(result('f'), result('f'))],
      ]) {
        const text = JSON.stringify({ contents }, null, 1);
        expect(editRequest(text)).toEqual({ text, losses: 0, parsed: true });
      }
    });
  });

  describe('turns that a history holds in several contents, as SDKs keep streams', () => {
    const proof = { thoughtSignature: seal('QQ==') };
    const call = (name: string, args = '{}') => `{ "functionCall": {"name":"${name}",  "args":${args}} }`;
    const model = (...parts: string[]) => `{"role":"model","parts":[${parts.join(',')}]}`;
    const result = '{"role":"user","parts":[{"functionResponse":{"name":"f"}}]}';
    const body = (...contents: string[]) => `{"contents" : [${contents.join(',')}]}`;

    test('become one content, in which the first call keeps its bytes', () => {
      const split = [model('{"text":"so","thought":true}'), model('{"text":"I"}'), model('{"text":" look"}', call('f', '{"n":12345678901234567890}'))];
      const after = model(JSON.stringify({ functionCall: { name: 'g', args: { n: 1 } }, ...proof }), '{"text":"","thoughtSignature":"Zm9yZWlnbg=="}');
      expect(editRequest(body(...split, after, result, model('{"text":"a"}'), model('{"text":"b"}'))).text).toBe(
        body(
          model(
            ...['{"text":"so","thought":true}', '{"text":"I"}', '{"text":" look"}', call('f', '{"n":12345678901234567890}')],
            ...['{"functionCall":{"name":"g","args":{"n":1}},"thoughtSignature":"QQ=="}', '{"text":""}'],
          ),
          ...[result, model('{"text":"a"}'), model('{"text":"b"}')],
        ),
      );
    });

    test('calls of several contents are one step, whose results may come together', () => {
      const results = '{"role":"user","parts":[{"functionResponse":{"name":"f"}},{"functionResponse":{"name":"f"}}]}';
      const text = editRequest(body(model(call('f')), model('{"text":"and"}'), model(call('f')), results)).text;
      expect(JSON.parse(text).contents.map(({ parts }: { parts: unknown[] }) => parts.length)).toEqual([3, 2]);
    });

    test('stay where a later call holds a number that printing would change', () => {
      const text = body(model(call('f')), model(call('g', '{"n":12345678901234567890}')), result);
      expect(editRequest(text)).toEqual({ text, losses: 0, parsed: true });
    });
  });

  test('foreign signatures are removed, the placeholder stays, and no part is left empty', () => {
    const text =
      '{"contents":[{"parts":[{"text":"a","thoughtSignature":"Zm9yZWlnbg=="},{"thoughtSignature":"Zm9yZWlnbg=="},{"functionCall":{"name":"f"},"thoughtSignature":"Zm9yZWlnbg=="},{"functionCall":{"name":"g"},"thoughtSignature":"skip_thought_signature_validator"}]}]}';
    expect(JSON.parse(editRequest(text).text)).toEqual({
      contents: [
        {
          parts: [
            { text: 'a' },
            { text: '' },
            { functionCall: { name: 'f' } },
            { functionCall: { name: 'g' }, thoughtSignature: 'skip_thought_signature_validator' },
          ],
        },
      ],
    });
    expect(editRequest(text).losses).toBe(1);
  });

  test('families that check signatures get the placeholder where a call loses its own', () => {
    const text = '{"contents":[{"parts":[{"functionCall":{"name":"f"},"thoughtSignature":"Zm9yZWlnbg=="}]}]}';
    expect(editRequest(text, 'gemini-3-pro-preview').text).toBe(text.replace('Zm9yZWlnbg==', 'skip_thought_signature_validator'));
  });

  test('families that check signatures get the placeholder on the first call of a step without one, however its names are spelled', () => {
    const call = (name: string) => ({ functionCall: { name, args: {} } });
    const next = { role: 'user', parts: [{ text: 'go' }] };
    const contents = [
      next,
      { role: 'model', parts: [{ text: 'so', thought: true }, call('a'), call('b')] },
      next,
      { role: 'model', parts: [{ ...call('c'), thoughtSignature: seal('QQ==') }, call('d')] },
      next,
      { role: 'model', parts: [{ function_call: { name: 'e' }, thought_signature: '' }] },
      { role: 'model', parts: [{ text: 'done' }] },
    ];
    const { text, losses } = editRequest(JSON.stringify({ contents }), 'gemini-3-pro-preview');
    const skip = 'skip_thought_signature_validator';
    expect(JSON.parse(text).contents).toEqual([
      next,
      { role: 'model', parts: [{ text: 'so', thought: true }, { ...call('a'), thoughtSignature: skip }, call('b')] },
      next,
      { role: 'model', parts: [{ ...call('c'), thoughtSignature: 'QQ==' }, call('d')] },
      next,
      { role: 'model', parts: [{ function_call: { name: 'e' }, thought_signature: skip }] },
      contents.at(-1),
    ]);
    expect(losses).toBe(1);
    // Families that check nothing keep their bytes, and nobody parses them.
    const plain = JSON.stringify({ contents: contents.slice(0, 2) });
    expect(editRequest(plain, 'gemini-2.5-flash')).toEqual({ text: plain, losses: 0, parsed: false });
  });

  test('a lone content, and the nested request of a count', () => {
    const lone = `{"contents":{"parts":{"text":"","thoughtSignature":"${seal('QQ==')}"}}}`;
    expect(editRequest(lone).text).toBe(lone.replace(seal('QQ=='), 'QQ=='));
    const nested = `{"generateContentRequest":{"model":"models/caller/name","contents":[{"parts":[{"text":"","thoughtSignature":"${seal('QQ==')}"}]}]}}`;
    expect(editRequest(nested, 'gemini-2.5-flash', 'count-tokens').text).toBe(
      nested.replace('models/caller/name', 'models/gemini-2.5-flash').replace(seal('QQ=='), 'QQ=='),
    );
  });

  test('odd shapes change nothing', () => {
    for (const text of [
      '{"contents":null,"thoughtSignature":"x"}',
      '{"contents":["thoughtSignature"]}',
      '{"contents":[{"parts":[{"text":"","thoughtSignature":""},{"thoughtSignature":7}]}]}',
    ]) {
      expect(editRequest(text)).toMatchObject({ text, losses: 0 });
    }
  });
});

describe('replies', () => {
  test('the model name and every signature, nothing else', () => {
    const text =
      '{"candidates": [{"content": {"parts": [{"text": "modelVersion","thoughtSignature": "QQ=="},{"functionCall": {"name": "f","args": {"thoughtSignature": "mine"}}}],"role": "model"}},{"index":1,"content":{"parts":[{"text":"","thoughtSignature":"Qg=="}]}}],"modelVersion": "gemini-3-flash","x":1.50}';
    expect(editRecord(text)).toBe(
      text
        .replace('"QQ=="', `"${seal('QQ==')}"`)
        .replace('"Qg=="', `"${seal('Qg==')}"`)
        .replace('gemini-3-flash', 'caller/name'),
    );
  });

  test('errors, arrays and records that are no JSON', () => {
    const error = '{"error":{"code":503}}';
    expect(editRecord(error)).toBe(error);
    expect(editRecord('[{"modelVersion":"m"}]')).toBe('[{"modelVersion":"caller/name"}]');
    const reply = verbatim.createReply(verbatimReplyContext());
    expect(reply.record({ data: '[DONE]', json: undefined })).toEqual([]);
    expect(reply.whole({ modelVersion: 'caller/name' })).toEqual([]);
  });
});
