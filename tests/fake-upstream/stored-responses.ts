/**
 * Responses that the vendor keeps: read, deleted, cancelled, their input listed, their stream taken up again, and runs in the background. Of the account
 * that made them; another account's are not there. A run goes on at the pace of its script, watched or not; a recorded one by its recorded polls.
 */
import { accountOf } from '../vendor-rules/index.ts';
import type { Reply } from './deliver.ts';
import { type RecordedExchange, readCase, readReply } from './fixtures.ts';
import { alphaResponse } from './protocols/alpha-response.ts';
import { sse } from './protocols/fake-protocol.ts';
import { failure } from './reply.ts';
import type { Script } from './script.ts';
import type { UpstreamRequest } from './upstream-request.ts';

type Json = Record<string, unknown>;
interface Event extends Json {
  type: string;
  sequence_number: number;
  response?: Json;
}

interface Stored {
  account: string;
  background: boolean;
  /** Created with `stream: true`, which alone can be taken up again. */
  streamed: boolean;
  input: Json[];
  previous: unknown;
  /** Of a stored response that was no background run: what it ended as. */
  response: Json;
  /** Of a background run: all that it will say. */
  events: Event[];
  begunAt: number;
  msPerEvent: number;
  /** How many events there were when it was cancelled. */
  cancelledAt: number | null;
  /** Recorded polls that were not asked for yet, the oldest first. */
  polls: RecordedExchange[];
  script: Script;
}

export interface StoredResponses {
  /** The reply to a call on a stored response; null: it is no such call. */
  answer(request: UpstreamRequest): { reply: Reply; script: Script } | null;
  /** The body with all that a chain of stored responses said before it. */
  withHistory(request: UpstreamRequest): Json;
  /** Keeps what a reply says when it has said it, where the caller wants it stored. */
  keep(request: UpstreamRequest, script: Script, reply: Reply): Reply;
  /** Takes the events of a whole run and begins it. */
  begin(request: UpstreamRequest, script: Script, reply: Reply): Reply;
}

const json = (status: number, body: unknown): Reply => ({ status, headers: { 'content-type': 'application/json' }, pieces: [JSON.stringify(body)] });
const refusal = (status: number, message: string): Reply => failure(alphaResponse, status, 'invalid_request_error', message);
const maxKept = 4_000_000;
const path = /\/v1\/responses\/(resp_[^/?]+)(?:\/(cancel|input_items))?(?:\?|$)/;
const final = new Set(['completed', 'failed', 'incomplete', 'cancelled']);

const itemsOf = (input: unknown): Json[] =>
  (typeof input === 'string' ? [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }] : ((input ?? []) as Json[])).map(
    (item, at) => ({ ...item, id: item['id'] ?? `msg_input${at}` }),
  );

function parse(text: string): Json | null {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // What is broken on purpose is not kept.
    return null;
  }
}

const readEvents = (text: string): Event[] =>
  text.split('\n').flatMap((line) => {
    const event = line.startsWith('data: {') ? parse(line.slice('data: '.length)) : null;
    return event ? [event as Event] : [];
  });

export function createStoredResponses(): StoredResponses {
  const stored = new Map<string, Stored>();
  const account = (request: UpstreamRequest): string => accountOf('alpha_response', request);

  function* noticed(pieces: Iterable<string | Buffer>, whole: (text: string) => void): Iterable<string | Buffer> {
    let text = '';
    for (const piece of pieces) {
      // One that never ends is not stored.
      if (text.length < maxKept) text += piece.toString();
      yield piece;
    }
    whole(text);
  }
  const store = (request: UpstreamRequest, script: Script, response: Json, more: Partial<Stored>): void =>
    void stored.set(String(response['id']), {
      account: account(request),
      background: false,
      streamed: request.json['stream'] === true,
      input: itemsOf(request.json['input']),
      previous: request.json['previous_response_id'],
      response,
      events: [],
      begunAt: performance.now(),
      msPerEvent: script.slowMs,
      cancelledAt: null,
      polls: recordedPolls(script),
      script,
      ...more,
    });

  return {
    answer(request) {
      const [, id = '', what = ''] = path.exec(request.path) ?? [];
      if (id === '') return null;
      const one = stored.get(id);
      const asked = `${request.method} ${what}`.trim();
      const script: Script = one ? { ...one.script, slowMs: 0, fault: null } : ({ slowMs: 0, fault: null, flags: new Set() } as unknown as Script);
      if (one?.account !== account(request)) return { reply: refusal(404, `Response with id '${id}' not found.`), script };
      if (asked === 'GET') {
        const { searchParams } = new URL(request.path, 'http://fake');
        return searchParams.get('stream') === 'true'
          ? { reply: streamAgain(one, searchParams.get('starting_after')), script: { ...script, slowMs: one.msPerEvent } }
          : { reply: json(200, poll(one)), script };
      }
      if (asked === 'GET input_items') return { reply: json(200, list(one.input, new URL(request.path, 'http://fake').searchParams)), script };
      if (asked === 'POST cancel') return { reply: cancel(one), script };
      if (asked !== 'DELETE') return { reply: refusal(405, `Invalid method for URL (${request.method} ${request.path})`), script };
      stored.delete(id);
      return { reply: json(200, { id, object: 'response.deleted', deleted: true }), script };
    },

    withHistory(request) {
      if (typeof request.json['previous_response_id'] !== 'string') return request.json;
      const history: Json[] = [];
      for (let id: unknown = request.json['previous_response_id']; ; ) {
        const one = stored.get(String(id));
        if (one?.account !== account(request)) break;
        history.unshift(...one.input, ...((now(one)['output'] as Json[] | undefined) ?? []));
        id = one.previous;
      }
      return { ...request.json, input: [...history, ...itemsOf(request.json['input'])] };
    },

    keep(request, script, reply) {
      if (request.json['store'] === false || reply.status !== 200) return reply;
      return {
        ...reply,
        pieces: noticed(reply.pieces, (text) => {
          const response = text.startsWith('{') ? parse(text) : readEvents(text).findLast((event) => event.response)?.response;
          if (response?.['id']) store(request, script, response, {});
        }),
      };
    },

    begin(request, script, reply) {
      if (reply.status !== 200) return reply;
      const text = [...reply.pieces].map((piece) => piece.toString()).join('');
      // A recording is played as it is; what it lacks are the events of a run that was not streamed.
      const recorded = script.fixture !== null;
      const events = recorded ? readEvents(text) : inBackground(readEvents(text), request.json);
      const response = text.startsWith('{') ? (JSON.parse(text) as Json) : (events[0]?.response as Json);
      store(request, script, response, { background: true, events });
      if (recorded) return { ...reply, pieces: [text] };
      const one = stored.get(String(response['id'])) as Stored;
      return request.json['stream'] === true ? streamAgain(one, null) : json(200, response);
    },
  };
}

/** The same events, of a run that waits in a line first. */
function inBackground(events: readonly Event[], asked: Json): Event[] {
  const [created, ...rest] = events.map((event) => ({
    ...event,
    ...(event.response && { response: { ...event.response, background: true, store: true, previous_response_id: asked['previous_response_id'] ?? null } }),
  }));
  const queued = { ...created, response: { ...created?.response, status: 'queued' } } as Event;
  return [queued, { ...queued, type: 'response.queued' }, ...rest].map((event, at) => ({ ...event, sequence_number: at }));
}

const soFar = (one: Stored): Event[] => {
  const passed = one.msPerEvent === 0 ? one.events.length : Math.min(one.events.length, 1 + Math.floor((performance.now() - one.begunAt) / one.msPerEvent));
  return one.events.slice(0, one.cancelledAt ?? passed);
};

/** The response as it is at this moment. */
function now(one: Stored): Json {
  const response = soFar(one).findLast((event) => event.response)?.response ?? one.response;
  return one.cancelledAt === null ? response : { ...response, status: 'cancelled', output: [] };
}

function poll(one: Stored): Json {
  const [next, ...later] = one.polls;
  if (next === undefined || one.script.fixture === null) return now(one);
  // The last one is what it stays at.
  if (later.length > 0) one.polls = later;
  const { protocol, name } = one.script.fixture;
  return JSON.parse(readReply(protocol, name, next.n)?.body.toString('utf8') ?? '{}') as Json;
}

/** The polls that follow the recorded creation, up to the next creation. */
function recordedPolls(script: Script): RecordedExchange[] {
  if (script.fixture === null) return [];
  const { protocol, name, n } = script.fixture;
  const after = readCase(protocol, name).filter((one) => one.n > n);
  const end = after.findIndex(({ method }) => method === 'POST');
  return after.slice(0, end === -1 ? after.length : end).filter(({ method, query }) => method === 'GET' && !query.includes('stream=true'));
}

function streamAgain(one: Stored, startingAfter: string | null): Reply {
  if (!one.background) return refusal(400, 'This response was not created in the background and cannot be streamed.');
  if (!one.streamed) return refusal(400, 'This response was not created with `stream: true`, so it cannot be streamed.');
  const after = startingAfter === null ? -1 : Number(startingAfter);
  if (!Number.isInteger(after)) return refusal(400, `Invalid 'starting_after': '${startingAfter}'.`);
  const left = function* (): Iterable<string> {
    for (const event of one.events) {
      if (one.cancelledAt !== null && event.sequence_number >= one.cancelledAt) return;
      if (event.sequence_number > after) yield sse(event, event.type);
    }
  };
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, pieces: left() };
}

function cancel(one: Stored): Reply {
  if (!one.background) return refusal(400, 'Cannot cancel a synchronous response.');
  if (!final.has(String(now(one)['status']))) one.cancelledAt = soFar(one).length;
  return json(200, now(one));
}

function list(input: readonly Json[], query: URLSearchParams): Json {
  const ordered = query.get('order') === 'asc' ? [...input] : [...input].reverse();
  const from = query.get('after') === null ? 0 : ordered.findIndex(({ id }) => id === query.get('after')) + 1;
  const data = ordered.slice(from, from + Number(query.get('limit') ?? 20));
  return { object: 'list', data, first_id: data[0]?.['id'] ?? null, last_id: data.at(-1)?.['id'] ?? null, has_more: from + data.length < ordered.length };
}
