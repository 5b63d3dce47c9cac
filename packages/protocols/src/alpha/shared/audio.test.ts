import { expect, test } from '@jest/globals';
import { observeAudio } from './audio.ts';

const observe = (contentType: string) => {
  const observer = observeAudio({ operation: 'transcribe', contentType, requestValue: () => undefined, requestTokens: () => 7 });
  if (!observer) throw new Error('nobody looks at transcripts');
  return observer;
};

test.each([
  ['text/plain', 'x'.repeat(45), 3],
  ['text/plain', '你好吗'.repeat(5), 3],
  ['text/plain', '1\n00:00:01,000 --> 01:02:04,500\nx\n', 3725],
  ['text/vtt', 'WEBVTT\n\n00:01.000 --> 00:04.200\nx\n', 5],
  ['application/json', JSON.stringify({ text: 'x'.repeat(45) }), 3],
])('%s without figures is as long as what is said in it: %j', (contentType, body, seconds) => {
  const observer = observe(contentType);
  for (const piece of body.match(/.{1,20}/gs)!) observer.push(Buffer.from(piece));
  expect(observer.finish()).toMatchObject({ usage: { input: 7, seconds }, estimated: true });
});

test('JSON that breaks off says nothing of the sound, and fails nobody', () => {
  const observer = observe('application/json');
  observer.push(Buffer.from('{"text":"Hi, th'));
  expect(observer.finish()).toMatchObject({ usage: { input: 7, output: 0, seconds: 0 }, estimated: true });
});

test('a transcript without end is not kept', () => {
  const observer = observe('text/plain');
  const piece = Buffer.alloc(1024 * 1024, 'x');
  for (let count = 0; count < 64; count++) observer.push(piece);
  expect(observer.finish()!.usage.output).toBe((8 * 1024 * 1024) / 4);
});
