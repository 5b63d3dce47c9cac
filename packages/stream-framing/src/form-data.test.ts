import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { boundaryOf, findParts, isFormType, MalformedForm, replaceParts } from './form-data.ts';

const boundary = 'x-boundary';
const form = (...parts: readonly (readonly [head: string, content: string | Buffer])[]): Buffer =>
  Buffer.concat([
    ...parts.flatMap(([head, content]) => [Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n')]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
const field = (name: string, content: string | Buffer) => [`Content-Disposition: form-data; name="${name}"`, content] as const;
const read = (body: Buffer) => findParts(body, boundary).map(({ start, end, ...part }) => ({ ...part, content: body.toString('utf8', start, end) }));

describe('the content type', () => {
  test.each([
    ['multipart/form-data; boundary=abc', 'abc'],
    ['Multipart/Form-Data; charset=utf-8; Boundary="a b:c"', 'a b:c'],
    ['multipart/form-data;boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW', '----WebKitFormBoundary7MA4YWxkTrZu0gW'],
  ])('%s', (type, expected) => {
    expect(isFormType(type)).toBe(true);
    expect(boundaryOf(type)).toBe(expected);
  });

  test.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary="a\u00fcb"',
    `multipart/form-data; boundary=${'a'.repeat(71)}`,
  ])('without a usable boundary: %s', (type) => expect(() => boundaryOf(type)).toThrow(MalformedForm));

  test('of something else', () => {
    expect(isFormType('application/json')).toBe(false);
    expect(isFormType('multipart/form-database')).toBe(false);
  });
});

describe('parts', () => {
  test('have names, file names and types, in whatever order their parameters stand', () => {
    const body = form(
      field('model', 'whisper-1'),
      ['content-type: Audio/MP4; codecs=x\r\nContent-Disposition: form-data; filename="übung 1.m4a"; name="file"', 'sound\r\n--not-a-boundary'],
      ['Content-Disposition: form-data; name="image[]"; filename="a \\"b\\".png"; filename*=UTF-8\'\'%C3%BC.png', ''],
      ['Content-Disposition: form-data; name=plain', 'text'],
    );
    expect(read(body)).toEqual([
      { name: 'model', content: 'whisper-1' },
      { name: 'file', filename: 'übung 1.m4a', contentType: 'audio/mp4', content: 'sound\r\n--not-a-boundary' },
      { name: 'image[]', filename: 'ü.png', content: '' },
      { name: 'plain', content: 'text' },
    ]);
  });

  test('a name inside another parameter is none', () => {
    expect(read(form(['Content-Disposition: form-data; filename="; name=model"; name="file"', 'x']))).toEqual([
      { name: 'file', filename: '; name=model', content: 'x' },
    ]);
  });

  test('text before the first boundary and after the last is not read', () => {
    const body = Buffer.concat([Buffer.from('preamble\r\n'), form(field('a', '1')), Buffer.from(`epilogue\r\n--${boundary}\r\n`)]);
    expect(read(body)).toEqual([{ name: 'a', content: '1' }]);
  });

  test('one boundary may begin as another does', () => {
    const body = form(field('a', `line\r\n--${boundary.slice(0, -1)}\r\nline`));
    expect(read(body)[0]?.content).toBe(`line\r\n--${boundary.slice(0, -1)}\r\nline`);
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['no boundary at all', Buffer.from('{"model":"m"}')],
    ['a body that is cut inside a part', form(field('a', 'long content')).subarray(0, 70)],
    ['a body that is cut before its end mark', Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--${boundary}`)],
    ['a part without a name', form(['Content-Type: text/plain', '1'])],
    ['a part without headers', Buffer.from(`--${boundary}\r\n1\r\n--${boundary}--`)],
    ['a boundary with something behind it', Buffer.from(`--${boundary}X\r\n\r\n1\r\n--${boundary}--`)],
    ['too many parts', form(...Array.from({ length: 101 }, () => field('a', '')))],
    ['endless headers', form([`Content-Disposition: form-data; name="a"\r\nX: ${'y'.repeat(20_000)}`, ''])],
    ['a part with two names', form(['Content-Disposition: form-data; name="file"; name="model"', 'x'])],
    ['a part with two dispositions', form(['Content-Disposition: form-data; name="file"\r\nContent-Disposition: form-data; name="model"', 'x'])],
    ['a part with a second name in another spelling', form(['Content-Disposition: form-data; name="file"; name*=UTF-8\'\'model', 'x'])],
  ])('%s is refused', (_what, body) => expect(() => findParts(body, boundary)).toThrow(MalformedForm));
});

test('a replaced part leaves every other byte as it was, without copying it', () => {
  const body = form(field('model', 'mine'), field('file', Buffer.alloc(1 << 20, 7)), field('model-of', 'x'));
  const [model] = findParts(body, boundary);
  const pieces = replaceParts(body, [{ part: model!, content: 'a-much-longer-name' }]);
  expect(Buffer.concat(pieces).equals(form(field('model', 'a-much-longer-name'), field('file', Buffer.alloc(1 << 20, 7)), field('model-of', 'x')))).toBe(true);
  expect(pieces.at(-1)?.buffer).toBe(body.buffer);
});

test("reads what Node's own forms hold, and what its own reader reads", async () => {
  const text = fc.string({ maxLength: 40 });
  const entry = fc.record({
    name: fc.string({ minLength: 1, maxLength: 20 }),
    content: fc.uint8Array({ maxLength: 200 }),
    file: fc.option(text, { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 8 }), async (entries) => {
      const sent = new FormData();
      for (const { name, content, file } of entries) {
        if (file === undefined) sent.append(name, Buffer.from(content).toString('latin1'));
        else sent.append(name, new Blob([content as Uint8Array<ArrayBuffer>]), file);
      }
      const response = new Response(sent);
      const type = response.headers.get('content-type') ?? '';
      const body = Buffer.from(await response.arrayBuffer());
      const theirs = await new Response(body, { headers: { 'content-type': type } }).formData();
      const expected = await Promise.all(
        [...theirs.entries()].map(async ([name, value]) =>
          typeof value === 'string'
            ? { name, content: value }
            : { name, filename: value.name, content: Buffer.from(await value.arrayBuffer()).toString('utf8') },
        ),
      );
      const ours = findParts(body, boundaryOf(type)).map(({ name, filename, start, end }) => ({
        name,
        ...(filename !== undefined && { filename }),
        content: body.toString('utf8', start, end),
      }));
      expect(ours).toEqual(expected);
    }),
    { numRuns: 200 },
  );
});

test('no body takes long or throws anything else', () => {
  const pieces = fc.constantFrom(
    `--${boundary}`,
    `--${boundary}--`,
    '\r\n',
    '\r\n\r\n',
    'Content-Disposition: form-data; name="a"',
    ': ',
    '"',
    ';',
    'x'.repeat(500),
    '\\',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), (list) => {
      const body = Buffer.from(list.join(''));
      try {
        for (const { start, end } of findParts(body, boundary)) expect(start <= end && end <= body.length).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedForm);
      }
    }),
  );
});
