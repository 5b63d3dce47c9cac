/** Forms on their way through the translator: read as fields and files, and passed on with another model's name. */
import { expect, test } from '@jest/globals';
import { readFormBody, renameModel } from '../src/request/form-body.ts';

async function formOf(fill: (form: FormData) => void): Promise<{ bytes: Buffer; contentType: string }> {
  const form = new FormData();
  fill(form);
  const sent = new Response(form);
  return { contentType: sent.headers.get('content-type') ?? '', bytes: Buffer.from(await sent.arrayBuffer()) };
}

test('fields and files are read, files without a copy', async () => {
  const { bytes, contentType } = await formOf((form) => {
    form.append('model', 'mine');
    form.append('language', 'de');
    form.append('file', new Blob([Buffer.from('sound')], { type: 'audio/mp4' }), 'übung 1.m4a');
  });
  const { fields, files } = readFormBody(bytes, contentType);
  expect(fields).toEqual([
    { name: 'model', value: 'mine' },
    { name: 'language', value: 'de' },
  ]);
  expect(files).toMatchObject([{ name: 'file', filename: 'übung 1.m4a', contentType: 'audio/mp4' }]);
  expect(files[0]?.content.toString()).toBe('sound');
  expect(files[0]?.content.buffer).toBe(bytes.buffer);
});

test("only the model's name changes", async () => {
  const { bytes, contentType } = await formOf((form) => {
    form.append('prompt', 'the word model');
    form.append('file', new Blob(['model=mine']), 'model');
    form.append('model', 'mine');
  });
  const sent = Buffer.concat(renameModel({ bytes, contentType }, 'vendor/model-2'));
  const { fields, files } = readFormBody(sent, contentType);
  expect(fields).toEqual([
    { name: 'prompt', value: 'the word model' },
    { name: 'model', value: 'vendor/model-2' },
  ]);
  expect(files[0]?.content.toString()).toBe('model=mine');
  expect(sent.length).toBe(bytes.length + 'vendor/model-2'.length - 'mine'.length);
});

test('a form that names no model gets one', async () => {
  const { bytes, contentType } = await formOf((form) => form.append('file', new Blob(['sound']), 'a.wav'));
  const sent = Buffer.concat(renameModel({ bytes: Buffer.concat([Buffer.from('preamble\r\n'), bytes]), contentType }, 'vendor/model-2'));
  const { fields, files } = readFormBody(sent, contentType);
  expect([fields, files[0]?.content.toString()]).toEqual([[{ name: 'model', value: 'vendor/model-2' }], 'sound']);
});

test('what is no form is the caller’s fault', () => {
  expect(() => readFormBody(Buffer.from('{}'), 'multipart/form-data; boundary=b')).toThrow(expect.objectContaining({ code: 'invalid_request' }));
});
