/** Bodies that key groups keep: a list without them, and both of one request, which leaves a record in the audit log. */
import { z } from 'zod';
import { actorNameOf, auditOf } from '../audit/audit-of.ts';
import type { ConsoleContext } from '../context.ts';
import { Problem } from '../problem.ts';
import { readInput } from '../validation/read-input.ts';
import { bodyEntry, requestBodies } from './answers/stored-bodies.ts';
import { base, parameter, type Route } from './route.ts';

const bodyQuery = z.object({
  client_protocol: z.string().min(1).max(64).optional(),
  key_group: z.string().min(1).max(200).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

export const bodyRoutes = ({ storage, audit }: ConsoleContext): Route[] => [
  {
    method: 'get',
    path: `${base}/logs/bodies`,
    operationId: 'list_log_bodies',
    summary: 'Requests whose bodies are stored, newest first, without the bodies',
    tag: 'logs',
    query: bodyQuery,
    status: 200,
    answer: z.strictObject({ items: z.array(bodyEntry) }),
    async handle(request, response) {
      const { client_protocol, key_group, limit } = readInput(bodyQuery, request.query);
      const items = await storage.bodies.list({
        limit,
        ...(client_protocol !== undefined && { clientProtocol: client_protocol }),
        ...(key_group !== undefined && { keyGroup: key_group }),
      });
      response.json({ items });
    },
  },
  {
    method: 'get',
    path: `${base}/logs/{id}/bodies`,
    operationId: 'read_log_bodies',
    summary: 'What one request and its response held, redacted and cut, where the key group stores bodies; the reading is audited',
    tag: 'logs',
    status: 200,
    answer: requestBodies,
    failures: [404],
    async handle(request, response) {
      const found = await storage.bodies.find(parameter(request, 'id'));
      if (!found) throw new Problem('not_found', 'There is no stored body of this request.');
      await audit({
        ...auditOf(request, actorNameOf(response)),
        action: 'reveal',
        entity_type: 'key_group',
        entity_id: found.key_group,
        diff: { bodies_of: found.id },
      });
      response.json(found);
    },
  },
];
