/** Finished requests, newest first. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RequestFilters, RequestStats } from '@model-gateway/storage';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { explainFailure } from '../failures/explain-failure.ts';
import type { LiveLog } from '../live-log/live-log.ts';
import { streamRows } from '../live-log/stream-rows.ts';
import { invalidField, Problem } from '../problem.ts';
import { csvHeaders } from '../statistics/csv.ts';
import { rowTableHead, rowTableLine } from '../statistics/row-table.ts';
import { showDetails, showRow } from '../statistics/show-row.ts';
import { readInput } from '../validation/read-input.ts';
import { cursorPageOf } from './answers/common.ts';
import { requestDetails, requestRow } from './answers/request-row.ts';
import { clocksApartMs, cursorPage, instant, refuseWideSearch, sizeOf, toRange } from './instant.ts';
import { maybeText } from './list-query.ts';
import { base, parameter, type Route } from './route.ts';

const text = maybeText(512);
const flag = z.enum(['true', 'false']).optional();

const filterQuery = z.object({
  /** The minted id, or the caller's own `z-request-id`. */
  request_id: text,
  access_key: text,
  key_group: text,
  model: text,
  upstream: text,
  client_protocol: text,
  upstream_protocol: text,
  session_id: text,
  status: z.coerce.number().int().min(100).max(599).optional(),
  error_code: text,
  /** As statistics called it first. */
  error: text.meta({ undocumented: true }),
  /** `true`: what went wrong alone; `false`: what went well. */
  errors_only: flag,
  stream: flag,
  /** Literal part of an id, a name, an error code, an address or a user agent; in a window of at most 7 days. */
  q: text,
  min_duration_ms: z.coerce.number().int().min(0).max(1_000_000_000).optional(),
});
type Filters = z.output<typeof filterQuery>;

export const logQuery = filterQuery.extend({
  from: instant,
  to: instant,
  ...cursorPage(500),
  /** A table holds all rows of the range, not a page of them. */
  format: z.enum(['json', 'csv']).default('json').meta({ undocumented: true }),
});

/** What the query calls a filter → what storage calls it. */
function toFilters(query: Filters): RequestFilters {
  const { error, error_code: errorCode = error } = query;
  if (error !== undefined && error !== errorCode) throw invalidField('error', 'and error_code ask for different things');
  return {
    ...(query.request_id !== undefined && { requestId: query.request_id }),
    ...(query.access_key !== undefined && { accessKey: query.access_key }),
    ...(query.key_group !== undefined && { keyGroup: query.key_group }),
    ...(query.model !== undefined && { model: query.model }),
    ...(query.upstream !== undefined && { upstream: query.upstream }),
    ...(query.client_protocol !== undefined && { clientProtocol: query.client_protocol }),
    ...(query.upstream_protocol !== undefined && { upstreamProtocol: query.upstream_protocol }),
    ...(query.session_id !== undefined && { sessionId: query.session_id }),
    ...(query.status !== undefined && { status: query.status }),
    ...(errorCode !== undefined && { errorCode }),
    ...(query.errors_only !== undefined && { failed: query.errors_only === 'true' }),
    ...(query.stream !== undefined && { stream: query.stream === 'true' }),
    ...(query.q !== undefined && { search: query.q }),
    ...(query.min_duration_ms !== undefined && { minDurationMs: query.min_duration_ms }),
  };
}

const rowsPerPiece = 500;

/** All rows in pieces, as fast as they are taken; it ends early when the reader leaves. */
async function* tableOf(requests: RequestStats, filters: RequestFilters): AsyncGenerator<string> {
  yield rowTableHead;
  for (let cursor: string | undefined; ; ) {
    const { items, nextCursor } = await requests.listRows({ filters, limit: rowsPerPiece, ...(cursor !== undefined && { cursor }) });
    yield items.map(rowTableLine).join('');
    if (nextCursor === null) return;
    cursor = nextCursor;
  }
}

export const logRoutes = ({ storage, logger, keyring }: ConsoleContext, now: () => number, liveLog: LiveLog): Route[] => [
  {
    method: 'get',
    path: `${base}/logs`,
    operationId: 'list_logs',
    summary: 'Finished requests, newest first: the last 24 hours unless `from` says otherwise',
    tag: 'logs',
    query: logQuery,
    status: 200,
    answer: cursorPageOf(requestRow),
    textForm: 'csv',
    async handle(request, response) {
      const query = readInput(logQuery, request.query);
      const range = toRange(query, now(), clocksApartMs);
      if (query.q !== undefined) refuseWideSearch(range, now());
      const filters = { ...toFilters(query), ...range };
      if (query.format === 'csv') {
        response.set(csvHeaders('requests'));
        return pipeline(Readable.from(tableOf(storage.requests, filters)), response).catch((error: unknown) => {
          // Half a table was sent: the broken connection is what says so.
          logger.info({ error }, 'a table of requests ended early');
          response.destroy();
        });
      }
      const { items, nextCursor } = await storage.requests.listRows({
        filters,
        limit: sizeOf(query),
        ...(query.cursor !== undefined && { cursor: query.cursor }),
      });
      response.json({ items: items.map(showRow), next_cursor: nextCursor });
    },
  },
  {
    method: 'get',
    path: `${base}/logs/stream`,
    operationId: 'stream_logs',
    summary: 'Requests as they finish, as server-sent events: `row`, `dropped` (how many this reader was too slow for), `end`',
    tag: 'logs',
    query: filterQuery,
    status: 200,
    answerTypes: ['text/event-stream'],
    failures: [503],
    handle(request, response) {
      streamRows(response, toFilters(readInput(filterQuery, request.query)), liveLog);
    },
  },
  {
    method: 'get',
    path: `${base}/logs/{id}`,
    operationId: 'read_log',
    summary: 'One finished request by its id; `has_bodies` tells whether its bodies are stored, `failure` why it failed',
    tag: 'logs',
    status: 200,
    answer: requestDetails,
    failures: [404],
    async handle(request, response) {
      const id = parameter(request, 'id');
      const row = await storage.requests.findRow(id);
      if (!row) throw new Problem('not_found', 'There is no request of this id.');
      const shown = showDetails(row, keyring);
      const [has_bodies, failure] = await Promise.all([storage.bodies.has(id), explainFailure(shown, storage.requests, now())]);
      response.json({ ...shown, has_bodies, failure });
    },
  },
];
