/** Finished requests, newest first. */
import type { RequestFilters } from '@model-gateway/storage';
import { z } from 'zod';
import { invalidField } from '../problem.ts';
import type { Room } from '../room.ts';
import { readInput } from '../validation/read-input.ts';
import { instant } from './instant.ts';
import { base, type Route } from './route.ts';

const dayMs = 24 * 3_600_000;
const text = z.string().min(1).max(512).optional();

export const logQuery = z.object({
  /** The minted id, or the caller's own `z-request-id`. */
  request_id: text,
  access_key: text,
  key_group: text,
  model: text,
  upstream: text,
  status: z.coerce.number().int().min(100).max(599).optional(),
  error_code: text,
  stream: z.enum(['true', 'false']).optional(),
  from: instant,
  to: instant,
  limit: z.coerce.number().int().min(1).max(500).default(50),
  cursor: z.string().min(1).max(4096).optional(),
});

export const logRoutes = ({ storage }: Room, now: () => number): Route[] => [
  {
    method: 'get',
    path: `${base}/logs`,
    operationId: 'list_logs',
    summary: 'Finished requests, newest first: the last 24 hours unless `from` says otherwise',
    tag: 'logs',
    query: logQuery,
    status: 200,
    async handle(request, response) {
      const query = readInput(logQuery, request.query);
      const to = query.to ?? now() + 60_000;
      const from = query.from ?? Math.min(to, now()) - dayMs;
      if (from > to) throw invalidField('from', 'is later than `to`');
      const filters: RequestFilters = {
        from,
        to,
        ...(query.request_id !== undefined && { requestId: query.request_id }),
        ...(query.access_key !== undefined && { accessKey: query.access_key }),
        ...(query.key_group !== undefined && { keyGroup: query.key_group }),
        ...(query.model !== undefined && { model: query.model }),
        ...(query.upstream !== undefined && { upstream: query.upstream }),
        ...(query.status !== undefined && { status: query.status }),
        ...(query.error_code !== undefined && { errorCode: query.error_code }),
        ...(query.stream !== undefined && { stream: query.stream === 'true' }),
      };
      const { items, nextCursor } = await storage.requests.listRows({
        filters,
        limit: query.limit,
        ...(query.cursor !== undefined && { cursor: query.cursor }),
      });
      response.json({ items, next_cursor: nextCursor });
    },
  },
];
