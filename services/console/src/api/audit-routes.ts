/** The audit log. Looking at it leaves no record. */
import { auditActions, auditEntityTypes } from '@model-gateway/contracts';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { readInput } from '../validation/read-input.ts';
import { auditRecord } from './answers/account.ts';
import { cursorPageOf } from './answers/common.ts';
import { isoTime } from './answers/iso-time.ts';
import { clocksApartMs, cursorPage, instant, refuseWideSearch, sizeOf, toRange } from './instant.ts';
import { maybeText } from './list-query.ts';
import { base, type Route } from './route.ts';

const text = maybeText(512);

/** One of these, or several with commas between. */
const anyOf = (known: readonly string[]) =>
  z
    .string()
    .max(1_000)
    .transform((value) => value.split(',').filter((one) => one !== ''))
    .refine((values) => values.every((value) => known.includes(value)), { message: `is not one of ${known.join(', ')}` })
    .transform((values) => (values.length > 0 ? values : undefined))
    .optional();

export const auditQuery = z.object({
  /** Literal part of the name. */
  actor: text,
  action: anyOf(auditActions),
  entity_type: anyOf(auditEntityTypes),
  entity_id: text,
  request_id: text,
  /** Literal part of actor, entity, address or request id; in a window of at most 7 days. */
  q: text,
  from: instant,
  to: instant,
  ...cursorPage(500),
});

export const auditRoutes = ({ storage }: ConsoleContext, now: () => number): Route[] => [
  {
    method: 'get',
    path: `${base}/audit-logs`,
    operationId: 'list_audit_logs',
    summary: 'The audit log, newest first: the last 24 hours unless `from` says otherwise',
    tag: 'audit',
    query: auditQuery,
    status: 200,
    answer: cursorPageOf(auditRecord),
    async handle(request, response) {
      const { actor, action, entity_type, entity_id, request_id, q, limit, page_size, cursor, ...window } = readInput(auditQuery, request.query);
      const range = toRange(window, now(), clocksApartMs);
      if (q !== undefined) refuseWideSearch(range, now());
      const filters = {
        ...range,
        ...(actor !== undefined && { actor }),
        ...(action !== undefined && { actions: action }),
        ...(entity_type !== undefined && { entityTypes: entity_type }),
        ...(entity_id !== undefined && { entityId: entity_id }),
        ...(request_id !== undefined && { requestId: request_id }),
        ...(q !== undefined && { search: q }),
      };
      const { items, nextCursor } = await storage.audit.listRows({ filters, limit: sizeOf({ limit, page_size }), ...(cursor !== undefined && { cursor }) });
      response.json({ items: items.map((row) => ({ ...row, occurred_at: isoTime(row.occurred_at) })), next_cursor: nextCursor });
    },
  },
];
