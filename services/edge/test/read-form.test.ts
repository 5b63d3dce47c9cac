/** What the edge learns of a form before it hands the request on. */
import { expect, test } from '@jest/globals';
import type { ClientAdapter, RouteMatch } from '@model-gateway/protocols';
import { readWanted } from '../src/admission/read-wanted.ts';

const match: RouteMatch = { operation: 'transcribe', stream: null, body: 'form', files: ['file'] };
const client = {} as ClientAdapter;

async function wantedOf(fill: (form: FormData) => void, route: RouteMatch = match) {
  const form = new FormData();
  fill(form);
  const sent = new Response(form);
  const contentType = sent.headers.get('content-type') ?? '';
  return readWanted({ bytes: Buffer.from(await sent.arrayBuffer()), contentType }, route, client, () => undefined);
}
const sound = new Blob([new Uint8Array(200_000)], { type: 'audio/mpeg' });

test('model and stream of a form are those of its parts, before or after the file', async () => {
  const before = await wantedOf((form) => {
    form.append('model', 'whisper');
    form.append('file', sound, 'übung 1.m4a');
  });
  expect(before).toMatchObject({ model: 'whisper', stream: 'whole', body: 'form' });
  const after = await wantedOf((form) => {
    form.append('file', sound, 'a.mp3');
    form.append('stream', 'true');
    form.append('model', 'whisper');
  });
  expect(after).toMatchObject({ model: 'whisper', stream: 'sse', body: 'form' });
});

test('a file is counted by its kind, not as text', async () => {
  const { places } = await wantedOf((form) => {
    form.append('model', 'whisper');
    form.append('file', sound, 'a.mp3');
  });
  expect(places.files).toEqual({ bytes: 200_000, tokens: 2000, seconds: 63 });
});

test('several files may carry brackets behind their name', async () => {
  const wanted = await wantedOf(
    (form) => {
      form.append('model', 'picture');
      form.append('image[]', new Blob(['a']), 'a.png');
      form.append('image[1]', new Blob(['b']), 'b.png');
    },
    { ...match, operation: 'image-edit', files: ['image'] },
  );
  expect(wanted.model).toBe('picture');
});

test.each<[string, (form: FormData) => void, string]>([
  ['no model', (form) => form.append('file', sound, 'a.mp3'), 'model is required.'],
  [
    'two models',
    (form) => {
      form.append('model', 'a');
      form.append('model', 'b');
      form.append('file', sound, 'a.mp3');
    },
    'The form names more than one model.',
  ],
  [
    'a second model that claims to be a file',
    (form) => {
      form.append('model', 'a');
      form.append('model', new Blob(['b']), 'm');
      form.append('file', sound, 'a.mp3');
    },
    'The form names more than one model.',
  ],
  [
    'a second model in capitals',
    (form) => {
      form.append('Model', 'b');
      form.append('model', 'a');
      form.append('file', sound, 'a.mp3');
    },
    'The form names more than one model.',
  ],
  [
    'a model that is a file',
    (form) => {
      form.append('model', new Blob(['a']), 'm');
      form.append('file', sound, 'a.mp3');
    },
    'model is required.',
  ],
  [
    'two answers to whether it streams',
    (form) => {
      form.append('model', 'a');
      form.append('stream', 'true');
      form.append('stream', 'false');
      form.append('file', sound, 'a.mp3');
    },
    'The form has more than one part named stream.',
  ],
  ['no file', (form) => form.append('model', 'a'), 'The form has no file named file.'],
  [
    'text where the file should be',
    (form) => {
      form.append('model', 'a');
      form.append('file', 'words');
    },
    'The form has no file named file.',
  ],
])('a form with %s is refused', async (_what, fill, message) => {
  await expect(wantedOf(fill)).rejects.toMatchObject({ code: 'invalid_request', message });
});

test('a form that was cut off is refused', () => {
  const bytes = Buffer.from(
    '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nabc',
  );
  expect(() => readWanted({ bytes, contentType: 'multipart/form-data; boundary=b' }, match, client, () => undefined)).toThrow(/cut off/);
});

test('where JSON is taken too, its content type decides', () => {
  const bytes = Buffer.from('{"model":"picture","stream":true}');
  const either: RouteMatch = { operation: 'image-edit', stream: null, body: 'either', files: ['image'] };
  expect(readWanted({ bytes, contentType: 'application/json' }, either, client, () => undefined)).toMatchObject({ model: 'picture', stream: 'sse' });
});

test('the framing of a reply may be said by another field than stream', () => {
  const bytes = Buffer.from('{"model":"tts","stream_format":"sse"}');
  const speech: RouteMatch = { operation: 'speech', stream: null, readStream: (value) => (value('stream_format') === 'sse' ? 'sse' : 'bytes') };
  const asks = { editedKeys: ['stream_format'] } as unknown as ClientAdapter;
  expect(readWanted({ bytes, contentType: 'application/json' }, speech, asks, () => undefined).stream).toBe('sse');
  expect(readWanted({ bytes: Buffer.from('{"model":"tts"}'), contentType: 'application/json' }, speech, asks, () => undefined).stream).toBe('bytes');
});

test('raw bytes are not looked into', () => {
  const raw: RouteMatch = { operation: 'passthrough', stream: 'bytes', body: 'raw', model: 'm' };
  expect(readWanted({ bytes: Buffer.from([0xff, 0x00]), contentType: undefined }, raw, client, () => undefined)).toMatchObject({
    model: 'm',
    stream: 'bytes',
    body: 'raw',
  });
});
