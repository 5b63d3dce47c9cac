/** What is left of the limits. */
import { readLimitStatus } from '../probes/limit-status.ts';
import type { Room } from '../room.ts';
import { limitStatus } from './answers/routing.ts';
import { base, type Route } from './route.ts';

export const limitRoutes = (room: Room): Route[] => [
  {
    method: 'get',
    path: `${base}/rate-limit-status`,
    operationId: 'read_rate_limit_status',
    summary: 'How much of each limit is in use, as all live processes say; those that did not answer are named',
    tag: 'limits',
    status: 200,
    answer: limitStatus,
    handle: async (_request, response) => void response.json(await readLimitStatus(room)),
  },
];
