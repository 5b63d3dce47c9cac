/** Recorded calls on stored responses and conversations of the vendor: the same requests are understood, and the same answers given. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { recordingsFolder } from '../../../../test/support/recordings-folder.ts';
import type { ReplyTurn } from '../../../contract/index.ts';
import { asArray, asObject, asString, type JsonObject, own } from '../../../kit/read.ts';
import { turns } from './index.ts';

const folder = resolve(recordingsFolder);
const present = existsSync(join(folder, 'alpha_response_state'));
if (!present && process.env['FIXTURES_REQUIRED'] === '1') throw new Error('Recorded fixtures are required and were not found.');

interface Exchange {
  name: string;
  method: string;
  path: string;
  query: string;
  asked: JsonObject;
  text: string;
  stream: boolean;
}

interface RecordedExchange extends Pick<Exchange, 'method' | 'path' | 'query'> {
  n: number;
  request: { file: string | null };
  response: { file: string };
}

const text = (...path: string[]): string => readFileSync(join(folder, ...path), 'utf8');
function exchangesOf(protocol: string, name: string): Exchange[] {
  const { exchanges }: { exchanges: RecordedExchange[] } = JSON.parse(text(protocol, name, 'meta.json'));
  return exchanges.map(({ n, method, path, query, request, response }) => ({
    name: `${name} ${n} ${method} ${path}${query}`,
    ...{ method, path, query: query.slice(1) },
    asked: request.file ? JSON.parse(text(protocol, name, request.file)) : {},
    text: text(protocol, name, response.file),
    stream: response.file.endsWith('.sse'),
  }));
}
const cases = present ? readdirSync(join(folder, 'alpha_response_state')) : [];
const state = cases.flatMap((name) => exchangesOf('alpha_response_state', name));
const others = present ? ['background-poll', 'background-stream-resume', 'previous-response-id', 'delete', 'input-items-and-delete'] : [];
const all = [...state, ...others.flatMap((name) => exchangesOf('alpha_response', name))];
const none: Exchange = { name: 'none', method: '', path: '', query: '', asked: {}, text: '{}', stream: false };
const each = (found: Exchange[]) => (found.length > 0 ? test.each(found) : test.skip.each([none]));

/** The turn that a recorded response is. */
const turnOf = (response: unknown): ReplyTurn => ({
  id: asString(own(response, 'id')) ?? '',
  previous: asString(own(response, 'previous_response_id')) ?? null,
  conversation: asString(own(own(response, 'conversation'), 'id')) ?? null,
  store: own(response, 'store') === true,
  background: own(response, 'background') === true,
});
const lastOf = (stream: string): JsonObject =>
  [...stream.matchAll(/^data: ?(\{[^\r\n]*)/gm)].map((match) => asObject(own(JSON.parse(match[1] ?? ''), 'response'))).findLast((response) => response) ?? {};
let minted = 0;
const mintId = (prefix: string): string => `${prefix}${String(++minted).padStart(24, '0')}`;
const isTurn = ({ path }: Exchange): boolean => /^\/v1\/responses(\/resp_\w+)?$/.test(path);

describe('responses', () => {
  each(all.filter((one) => isTurn(one) && one.method !== 'DELETE'))('$name: stored as the vendor answers it', ({ text: answer, stream, asked }) => {
    const response: JsonObject = stream ? lastOf(answer) : JSON.parse(answer);
    const turn = turnOf(response);
    const observer = turns.createObserver(turn, { form: stream ? 'sse' : 'whole', model: 'm', createdAt: 0, body: asked });
    if (stream) observer.written(Buffer.from(answer));
    else observer.whole(response);
    // The oldest recordings do not name it.
    expect(observer.ended()).toEqual({ status: own(response, 'status'), response: { background: false, ...response } });
  });

  each(all.filter((one) => isTurn(one) && one.method === 'POST'))('$name: what it asks of the store', ({ asked, text: answer, stream }) => {
    const wishes = turns.readWishes(asked);
    const turn = turnOf(stream ? lastOf(answer) : JSON.parse(answer));
    expect(wishes).toEqual({
      store: own(asked, 'store') ?? true,
      background: turn.background,
      references: [],
      ...(turn.previous !== null && { previous: turn.previous }),
      ...(turn.conversation !== null && { conversation: turn.conversation }),
    });
    const items = turns.inputItems(asked, mintId, new Map());
    expect(turns.expand(asked, items, new Map())).not.toHaveProperty('previous_response_id');
    const shown = turns.calls.page(items, turns.calls.readList('order=asc&limit=100'));
    for (const item of asArray(own(shown, 'data')) ?? []) expect(item).toMatchObject({ id: expect.any(String), type: expect.any(String) });
  });

  each(all.filter(({ text: answer, stream }) => !stream && own(JSON.parse(answer), 'status') === 'queued'))(
    '$name: begins queued',
    ({ asked, text: answer }) => {
      const recorded = JSON.parse(answer);
      const model = recorded.model;
      const queued = turns.queued(turnOf(recorded), { form: 'whole', model, createdAt: recorded.created_at, body: asked }) as JsonObject;
      // Defaults of the vendor's own are not ours to tell.
      const vendors = ['temperature', 'top_p', 'text', 'tools'];
      for (const key of Object.keys(queued)) if (!vendors.includes(key)) expect([key, queued[key]]).toEqual([key, recorded[key]]);
    },
  );

  each(all.filter(({ method, path }) => method === 'GET' && isTurn({ ...none, path })))('$name: the query of a reader', ({ query, stream }) => {
    expect(turns.calls.readResume(query).stream).toBe(stream);
  });

  each(all.filter(({ method, path }) => method === 'DELETE' && path.startsWith('/v1/responses/')))('$name: deleted', ({ path, text: answer }) => {
    expect(turns.calls.deleted(path.slice('/v1/responses/'.length))).toEqual(JSON.parse(answer));
  });

  each(all.filter(({ path }) => path.endsWith('/input_items')))('$name: the list of the input', ({ query, text: answer }) => {
    const [{ id }] = JSON.parse(answer).data;
    const items = turns.inputItems({ input: JSON.parse(answer).data[0].content[0].text }, () => id, new Map());
    expect(turns.calls.page(items, turns.calls.readList(query))).toEqual(JSON.parse(answer));
  });
});

each(state.filter(({ path }) => path.startsWith('/v1/conversations')))('$name', ({ method, path, asked, text: answer }) => {
  const recorded = JSON.parse(answer);
  if (method === 'DELETE') return expect(turns.calls.conversationDeleted(path.split('/').at(-1) ?? '')).toEqual(recorded);
  const { metadata, items } = turns.calls.readNewConversation(asked, mintId);
  expect(items).toEqual([]);
  expect(turns.calls.conversation(recorded.id, recorded.created_at * 1000 + 999, metadata)).toEqual(recorded);
});

/** Each turn of a recorded chain is asked with nothing but its own items; what reaches an upstream is the whole conversation. */
each(state.filter(({ name }) => /^(?:previous-response-chain|conversation-tool-call) \d+ POST \/v1\/responses$/.test(name)))(
  '$name: the whole conversation',
  ({ name, asked }) => {
    const [chain = ''] = name.split(' ');
    const turnsBefore = state.filter((one) => one.name.startsWith(`${chain} `) && isTurn(one) && Number(one.name.split(' ')[1]) < Number(name.split(' ')[1]));
    const history = turnsBefore.flatMap((one) => [...turns.inputItems(one.asked, mintId, new Map()), ...(asArray(own(JSON.parse(one.text), 'output')) ?? [])]);
    const expanded = turns.expand(asked, history, new Map());
    const input = asArray(own(expanded, 'input')) ?? [];
    expect(input).toEqual([
      ...turnsBefore.flatMap((one) => [...(asArray(own(one.asked, 'input')) ?? []), ...(asArray(own(JSON.parse(one.text), 'output')) ?? [])]),
      ...(asArray(own(asked, 'input')) ?? []),
    ]);
    const calls = new Set(input.flatMap((item) => (own(item, 'type') === 'function_call' ? [own(item, 'call_id')] : [])));
    for (const item of input) if (own(item, 'type') === 'function_call_output') expect(calls).toContain(own(item, 'call_id'));
  },
);
