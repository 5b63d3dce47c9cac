/** Law: after any prefix of whole events, the stream terminator's ending makes a complete, valid stream that never reads as a success. */
import { describe, expect, test } from '@jest/globals';
import { bytes, foldAll, meaningOf, readStream, speakers, terminatorContext, validate, writePieces } from './harness.ts';
import { replyScenarios } from './scenarios.ts';

const warning = { reason: 'upstream_broken', detail: 'The upstream closed the reply before it was complete.', timestamp: '2026-01-01T00:00:00.000Z' };

interface Seen {
  type?: string;
  index?: number;
  content_block?: { type: string };
  item?: { type: string };
  delta?: { stop_reason?: string | null };
  choices?: { delta?: { tool_calls?: unknown[] }; finish_reason?: string | null }[];
  candidates?: { content?: { parts?: { functionCall?: unknown }[] }; finishReason?: string }[];
}

/** Whether what was sent holds neither a call that the caller may have run nor the reply's end, read event by event. */
function mayRepeat(prefix: string): boolean {
  const open = new Set<number>();
  for (const data of prefix.matchAll(/^data: ?(\{[^\n]*)$/gm)) {
    const event = JSON.parse(data[1]!) as Seen;
    if (event.content_block?.type === 'tool_use') open.add(event.index!);
    if (event.type === 'content_block_stop' && open.has(event.index!)) return false;
    if (typeof event.delta === 'object' && event.delta.stop_reason) return false;
    if (event.type === 'response.output_item.done' && event.item?.type === 'function_call') return false;
    if (/^response\.(?:completed|incomplete|failed)$/.test(event.type ?? '')) return false;
    if (event.choices?.some(({ delta, finish_reason }) => (delta?.tool_calls ?? []).length > 0 || finish_reason)) return false;
    if (event.candidates?.some(({ content, finishReason }) => finishReason || content?.parts?.some(({ functionCall }) => functionCall))) return false;
  }
  return true;
}

describe.each(speakers)('$id', (speaker) => {
  test.each(replyScenarios)('$name: closed after every event', ({ events }) => {
    const stream = writePieces(speaker, events).join('');
    const separator = /\r?\n\r?\n/g;
    const boundaries = [0, ...[...stream.matchAll(separator)].map((found) => found.index + found[0].length)];
    const full = meaningOf(foldAll(events));
    for (const boundary of boundaries) {
      const prefix = stream.slice(0, boundary);
      const terminator = speaker.client.createTerminator(terminatorContext());
      // Fed in the pieces that it would see: event by event.
      let from = 0;
      for (const to of boundaries.filter((point) => point <= boundary)) {
        if (to > from) terminator.observe(bytes(prefix.slice(from, to)));
        from = to;
      }
      const ended = terminator.ended;
      expect({ at: boundary, repeatable: terminator.repeatable }).toEqual({ at: boundary, repeatable: mayRepeat(prefix) });
      const closing = terminator.close(warning);
      const whole = prefix + closing;
      expect({ at: boundary, problems: validate(speaker, whole) }).toEqual({ at: boundary, problems: [] });
      if (ended) {
        expect(closing).toBe('');
        continue;
      }
      expect(closing).toContain('_gateway_warning');
      const warned = JSON.parse(/"_gateway_warning":(\{[^}]*\})/.exec(closing)![1]!) as object;
      expect(Object.keys(warned).sort()).toEqual(['detail', 'last_finish_reason', 'reason', 'timestamp']);
      const seen = foldAll(readStream(speaker, [bytes(whole)]));
      expect(
        full.text.startsWith(
          seen.blocks
            .filter((block) => block.start.type === 'text' || block.start.type === 'refusal')
            .map((block) => block.text)
            .join(''),
        ),
      ).toBe(true);
      // A finish that had gone out already stays what it was; otherwise it is the length-type reason, never tool use or a natural end.
      if (!/"(?:finish_reason|finishReason|stop_reason)":\s*"/.test(prefix)) expect(seen.finish.reason).toBe('length');
    }
  });
});
