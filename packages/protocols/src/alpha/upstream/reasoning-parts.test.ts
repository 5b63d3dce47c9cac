/** Whole replies, and histories, whose content holds reasoning as a part: https://docs.databricks.com/aws/en/machine-learning/model-serving/query-reason-models */
import { describe, expect, test } from '@jest/globals';
import type { ChatEvent } from '../../chat/event.ts';
import { foldEvents } from '../../chat/fold.ts';
import { readContent } from '../shared/read-parts.ts';
import { readWhole } from './read-response.ts';

const blocks = (events: ChatEvent[]) => foldEvents(events).blocks.map((block) => [block.start.type, block.text]);
const reasoning = (text: string, signature = '') => ({ type: 'reasoning', summary: [{ type: 'summary_text', text, signature }] });

describe('a part of reasoning', () => {
  test('as libraries write it, without a summary', () => {
    for (const part of [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'reasoning', reasoning: 'Hm.' },
    ]) {
      const message = { role: 'assistant', content: [part, { type: 'text', text: 'Hello' }] };
      expect(blocks(readWhole({ choices: [{ index: 0, message, finish_reason: 'stop' }] }))[0]).toEqual(['thinking', 'Hm.']);
      expect(readContent([part], 'messages[0].content')).toMatchObject([{ type: 'thinking', text: 'Hm.' }]);
    }
  });

  test('whole, and back in a caller’s history', () => {
    const content = [reasoning('Hm.', 'sig'), { type: 'text', text: 'Hello' }];
    const events = readWhole({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] });
    expect(blocks(events)).toEqual([
      ['thinking', 'Hm.'],
      ['text', 'Hello'],
    ]);
    expect(readContent(content, 'messages[0].content')).toEqual([
      { type: 'thinking', text: 'Hm.' },
      { type: 'text', text: 'Hello' },
    ]);
  });
});
