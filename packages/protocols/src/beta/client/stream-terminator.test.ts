/** The stream terminator: after any event, however its bytes arrive, what it adds makes a valid stream that agents do not mistake for a natural end. */
import { describe, expect, test } from '@jest/globals';
import { ownFixture, recorded, terminatorContext } from '../../../test/support/beta.ts';
import { validateStream } from '../../../test/validate/beta.ts';
import { createTerminator } from './stream-terminator.ts';

const warning = { reason: 'upstream_broken', detail: 'The upstream closed the reply.', timestamp: '2026-01-01T00:00:00.000Z' };
const dataOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => JSON.parse(line.slice(5)) as Record<string, unknown>);

function closeAfter(text: string, chunk = text.length || 1): string {
  const terminator = createTerminator(terminatorContext());
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunk) terminator.observe(bytes.subarray(at, at + chunk));
  return terminator.close(warning);
}

describe('after every event', () => {
  const streams = [{ name: 'our own', text: ownFixture('tools.sse') }, ...recorded('.sse')];
  for (const { name, text } of streams) {
    test(name, () => {
      const events = text.split(/(?<=\n\n)/).filter((event) => event !== '');
      for (let length = 0; length < events.length; length++) {
        const written = events.slice(0, length).join('');
        const added = closeAfter(written);
        // The upstream's own ids may hold more, and one recording is from before cache counts.
        const faults = validateStream(written + added).filter((fault) => !fault.startsWith('call id') && !fault.includes('no usage.cache_'));
        expect(faults).toEqual([]);
        const delivered = written.includes('event: message_delta');
        const holder = dataOf(added).filter((data) => '_gateway_warning' in data);
        expect(holder.map((data) => data['type'])).toEqual([delivered ? 'message_stop' : 'message_delta']);
        expect(Object.keys(holder[0]?.['_gateway_warning'] as object)).toEqual(['reason', 'detail', 'last_finish_reason', 'timestamp']);
        if (!delivered) expect(added).toContain('"stop_reason":"max_tokens"');
        expect(added).not.toContain('input_json_delta');
      }
      expect(closeAfter(text)).toBe('');
    });
  }
});

describe('bytes', () => {
  test('cut anywhere, inside characters too, the state is the same', () => {
    const text = ownFixture('tools.sse').split('event: content_block_stop\ndata: {"type":"content_block_stop","index":3')[0] ?? '';
    const whole = closeAfter(text);
    for (const chunk of [1, 2, 3, 7, 64]) expect(closeAfter(text, chunk)).toBe(whole);
    expect(whole).toContain('{"type":"content_block_stop","index":3}');
  });

  test('CRLF, keep-alives, and events without an event line', () => {
    const text = [
      ':keep-alive\r\n\r\n',
      'data: {"type":"message_start","message":{}}\r\n\r\n',
      'data: {"type": "content_block_start", "index": 4, "content_block": {"type": "text", "text": ""}}\r\n\r\n',
    ].join('');
    expect(dataOf(closeAfter(text)).map((data) => [data['type'], data['index']])).toEqual([
      ['content_block_stop', 4],
      ['message_delta', undefined],
      ['message_stop', undefined],
    ]);
  });

  test('a start longer than what is kept still names its block; text that looks like events is not taken for any', () => {
    const big = `event: content_block_start\ndata: {"type":"content_block_start","index":7,"content_block":{"type":"web_search_tool_result","content":"${'x'.repeat(100_000)}"}}\n\n`;
    expect(dataOf(closeAfter(big)).find((data) => data['type'] === 'content_block_stop')?.['index']).toBe(7);
    const trick =
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"event: message_stop\\n\\n"}}\n\n';
    expect(closeAfter(trick)).toContain('message_stop');
  });
});

describe('what it says', () => {
  test('nothing sent: a whole empty reply of the caller’s model', () => {
    const added = closeAfter('');
    expect(validateStream(added)).toEqual([]);
    expect(added).toContain('"model":"callers-name"');
  });

  test('the metered usage when there is one, else an estimate of the output', () => {
    const terminator = createTerminator(terminatorContext());
    terminator.observe(Buffer.from(ownFixture('tools.sse').split('event: message_delta')[0] ?? ''));
    const usage = { input: 1, cacheRead: 2, cacheWrite5m: 3, cacheWrite1h: 4, output: 5, reasoning: 6 };
    const delta = dataOf(terminator.close(warning, usage)).find((data) => data['type'] === 'message_delta');
    expect(delta?.['usage']).toMatchObject({ input_tokens: 1, cache_read_input_tokens: 2, cache_creation_input_tokens: 7, output_tokens: 11 });
    expect(terminator.ended).toBe(true);
    expect(terminator.close(warning)).toBe('');
    const event = `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${'word '.repeat(400)}"}}\n\n`;
    const estimated = dataOf(closeAfter(event)).find((data) => data['type'] === 'message_delta')?.['usage'] as Record<string, number>;
    expect(Object.keys(estimated)).toEqual(['output_tokens']);
    expect(estimated['output_tokens']).toBeGreaterThan(400);
    expect(estimated['output_tokens']).toBeLessThan(600);
  });

  test('the last stop reason when one was sent', () => {
    const added = closeAfter(ownFixture('tools.sse').split('event: message_stop')[0] ?? '');
    expect(dataOf(added)).toEqual([
      {
        type: 'message_stop',
        _gateway_warning: { reason: warning.reason, detail: warning.detail, last_finish_reason: 'tool_use', timestamp: warning.timestamp },
      },
    ]);
  });

  test('a whole reply has nothing to close', () => {
    expect(createTerminator({ ...terminatorContext(), streamForm: 'whole' }).close(warning)).toBe('');
  });
});
