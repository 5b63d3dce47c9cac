/** Whatever a caller or an upstream sends: a refusal that names a field, or an answer; nothing else is thrown, and arguments are never changed. */
import { expect, test } from '@jest/globals';
import { isGatewayError } from '@model-gateway/contracts/errors';
import fc from 'fast-check';
import type { ReplyTurn } from '../../../contract/index.ts';
import { own } from '../../../kit/read.ts';
import { turns } from './index.ts';

const { calls } = turns;
let minted = 0;
const mintId = (prefix: string): string => `${prefix}${++minted}`;
const turn: ReplyTurn = { id: 'resp_own', previous: null, conversation: null, store: true, background: false };
const reply = { form: 'sse', model: 'm', createdAt: 1, body: null } as const;

/** What `act` gives; undefined for a refusal. */
function answered<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (!isGatewayError(error) || (error.status !== 400 && error.status !== 404)) throw error;
    return undefined;
  }
}

const names = fc.constantFrom('type', 'id', 'role', 'content', 'status', 'call_id', 'output', '__proto__', 'constructor', 'store', 'conversation', 'metadata');
const kinds = fc.constantFrom(
  'message',
  'item_reference',
  'function_call',
  'function_call_output',
  'reasoning',
  'compaction',
  'user',
  'assistant',
  'incomplete',
  '',
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    kinds,
    fc.jsonValue({ maxDepth: 1 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(names, tie('value'), { maxKeys: 5 }),
  ),
}));
const bodies = fc.oneof(
  value,
  fc.record({ input: value, previous_response_id: value, conversation: value, store: value, items: value, metadata: value }, { requiredKeys: [] }),
);

test('any body', () => {
  fc.assert(
    fc.property(bodies, fc.array(value, { maxLength: 4 }), (body, history) => {
      const before = JSON.stringify([body, history]);
      const items = new Map<string, unknown>([['', body]]);
      answered(() => turns.readWishes(body));
      const expanded = answered(() => turns.expand(body, history, items));
      if (expanded !== undefined) expect([own(expanded, 'previous_response_id'), own(expanded, 'conversation')]).toEqual([undefined, undefined]);
      const stored = answered(() => turns.inputItems(body, mintId, items)) ?? [];
      const ids = stored.map((item) => own(item, 'id'));
      expect(ids.every((id) => typeof id === 'string' && id !== '')).toBe(true);
      expect(new Set(ids).size).toBe(ids.length);
      calls.page(stored, calls.readList(''));
      answered(() => calls.readNewConversation(body, mintId));
      answered(() => calls.readConversationUpdate(body));
      answered(() => calls.readNewItems(body, mintId));
      turns.queued(turn, { ...reply, body });
      expect(JSON.stringify([body, history])).toBe(before);
    }),
    { numRuns: 500 },
  );
});

test('any query', () => {
  const key = fc.constantFrom('limit', 'order', 'after', 'stream', 'starting_after', 'include[]', '%');
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.oneof(fc.string(), fc.constantFrom('1', '100', 'asc', 'true', '1e3', '٣'))), { maxLength: 5 }), (pairs) => {
      const query = pairs.map(([name, text]) => `${name}=${text}`).join('&');
      const wishes = answered(() => calls.readList(query));
      if (wishes) expect(Number.isInteger(wishes.limit) && wishes.limit >= 1 && wishes.limit <= 100).toBe(true);
      const resume = answered(() => calls.readResume(query));
      expect(resume?.after === undefined || Number.isSafeInteger(resume.after)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

const types = fc.constantFrom('created', 'output_item.added', 'output_item.done', 'output_text.delta', 'content_part.added', 'completed', 'failed', 'function_call_arguments.delta', 'x'); // biome-ignore format: one line
const records = fc.oneof(
  fc.record({ type: types.map((type) => `response.${type}`), output_index: fc.oneof(fc.nat(3), value), item: value, response: value, delta: value, part: value }, { requiredKeys: ['type'] }).map((event) => JSON.stringify(event)), // biome-ignore format: one line
  fc.string(),
  fc.constant('[DONE]'),
);

test('any stream', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(records, fc.boolean(), fc.boolean()), { maxLength: 12 }), (events) => {
      const observer = turns.createObserver(turn, reply);
      for (const [data, words, asRecord] of events) {
        if (asRecord) observer.record({ data });
        else observer.written(words ? `data: ${data}\n\n` : Buffer.from(`data: ${data}\n\n`), words);
      }
      expect(() => JSON.stringify([observer.ended(), observer.broken('incomplete'), observer.broken('failed', { code: 'c', message: 'm' })])).not.toThrow();
      expect(observer.broken('cancelled')).toMatchObject({ id: 'resp_own', status: 'cancelled', output: expect.any(Array) });
      const ended = observer.ended();
      if (ended) expect(ended.response).toMatchObject({ id: 'resp_own' });
    }),
    { numRuns: 500 },
  );
});
