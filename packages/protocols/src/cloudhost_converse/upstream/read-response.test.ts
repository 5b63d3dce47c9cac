/** The tier that served a reply: `serviceTier` of botocore's ConverseResponse and ConverseStreamMetadataEvent. */
import { describe, expect, test } from '@jest/globals';
import { createReader, readWhole } from './read-response.ts';

const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };

function stream(...events: [string, object][]): object[] {
  const reader = createReader();
  const read = events.flatMap(([event, json]) => reader.read({ event, data: '', json }));
  return [...read, ...reader.finish()];
}

describe('the tier that served', () => {
  const content: [string, object][] = [
    ['messageStart', { role: 'assistant' }],
    ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'hi' } }],
    ['contentBlockStop', { contentBlockIndex: 0 }],
    ['messageStop', { stopReason: 'end_turn' }],
  ];

  test('of a stream comes with its counts', () => {
    const events = stream(...content, ['metadata', { usage, metrics: { latencyMs: 1 }, serviceTier: { type: 'flex' } }]);
    expect(events.slice(-3)).toEqual([
      { type: 'finish', reason: 'stop', native: 'end_turn', servedTier: 'flex' },
      { type: 'usage', usage: expect.objectContaining({ input: 3, output: 2, serviceTier: 'flex' }) },
      { type: 'end' },
    ]);
  });

  test('a stream without counts ends all the same, and one that breaks before them does not', () => {
    expect(stream(...content).slice(-2)).toEqual([{ type: 'finish', reason: 'stop', native: 'end_turn' }, { type: 'end' }]);
    expect(stream(...content.slice(0, 3)).map((event) => (event as { type: string }).type)).not.toEqual(expect.arrayContaining(['finish', 'end']));
  });

  test('of a whole reply; one that no other protocol names is a loss', () => {
    const body = (type: string) => ({
      output: { message: { role: 'assistant', content: [{ text: 'hi' }] } },
      stopReason: 'end_turn',
      usage,
      serviceTier: { type },
    });
    const finish = (type: string) => readWhole(body(type)).find((event) => event.type === 'finish');
    expect(finish('priority')).toMatchObject({ servedTier: 'priority' });
    const billed = (type: string) => readWhole(body(type)).find((event) => event.type === 'usage')?.usage.serviceTier;
    expect(['default', 'priority', 'reserved'].map(billed)).toEqual([undefined, 'priority', 'reserved']);
    expect(finish('reserved')).toMatchObject({ lost: [{ field: 'reply.service_tier', action: 'dropped' }] });
  });
});
