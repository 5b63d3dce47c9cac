/** Events that hold an image: passed on without a parsed copy of it. */
import { describe, expect, test } from '@jest/globals';
import { createSseParser } from '@model-gateway/stream-framing';
import { readEvent } from '../src/reply-transform/large-event.ts';

const framed = (text: string) => {
  const parser = createSseParser({ maxEventBytes: 16 * 1024 * 1024 });
  return [...parser.push(Buffer.from(text)), ...parser.finish()][0]!;
};

describe('readEvent', () => {
  const image = 'A'.repeat(6_000_000);
  const event = { type: 'image_edit.completed', b64_json: image, usage: { input_tokens: 3 }, size: '1024x1024' };

  test('of a large event reads what is looked at, wherever it stands', () => {
    expect(readEvent(framed(`event: x\ndata: ${JSON.stringify(event)}\n\n`))).toEqual({ type: event.type, usage: event.usage });
    expect(readEvent(framed(`data: ${JSON.stringify({ _gateway_warning: 1, ...event })}\n\n`))).toMatchObject({ _gateway_warning: 1 });
  });

  test('of a small one all, and nothing of what is no JSON', () => {
    expect(readEvent(framed(`data: ${JSON.stringify({ ...event, b64_json: 'A' })}\n\n`))).toEqual({ ...event, b64_json: 'A' });
    expect(readEvent(framed('data: [DONE]\n\n'))).toBeUndefined();
    expect(readEvent(framed(`data: {"type":"x","b64_json":"${image}\n\n`))).toBeUndefined();
  });

  test('an event in several lines is one text, and parsed as such', () => {
    expect(readEvent(framed(`data: {"type":"x",\ndata: "b64_json":"${image}"}\n\n`))).toMatchObject({ type: 'x' });
  });

  test('copies no image: twenty events of 6 MB need no memory for parsed ones', () => {
    const record = framed(`data: ${JSON.stringify(event)}\n\n`);
    const kept = Array.from({ length: 20 }, () => readEvent(record));
    expect(JSON.stringify(kept).length).toBeLessThan(2_000);
  });
});
