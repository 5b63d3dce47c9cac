/** Trying a channel of alerts, what was sent, and a word to the owner of a key. */
import { resourceName } from '@model-gateway/contracts';
import { z } from 'zod';
import type { AlertWatch } from '../alerts/alerts.ts';
import { actorNameOf, auditOf } from '../audit/audit-of.ts';
import type { ConsoleContext } from '../context.ts';
import { Problem } from '../problem.ts';
import { readInput } from '../validation/read-input.ts';
import { alertMessagePage, alertTest, ownerTold } from './answers/alerts.ts';
import { isoTime } from './answers/iso-time.ts';
import { cursorPage, sizeOf } from './instant.ts';
import { base, parameter, type Route } from './route.ts';

const tag = 'alert-channels';
const messageQuery = z.strictObject({ channel: resourceName.optional(), ...cursorPage(500) });

export const alertRoutes = (context: ConsoleContext, alerts: AlertWatch): Route[] => [
  {
    method: 'post',
    path: `${base}/alert-channels/{name}/test`,
    operationId: 'test_alert_channel',
    summary: 'Sends a test message to a channel, at once, and says what became of it',
    tag,
    status: 200,
    answer: alertTest,
    failures: [404],
    async handle(request, response) {
      const stored = await context.storage.catalog.alertChannels.find(parameter(request, 'name'));
      if (!stored) throw new Problem('not_found', 'There is no alert channel of this name.');
      const fault = await alerts.test({ ...stored.document, id: stored.id });
      await context.audit({
        ...auditOf(request, actorNameOf(response)),
        action: 'test',
        entity_type: 'alert_channel',
        entity_id: stored.document.name,
        diff: { delivered: fault === null, error: fault?.error ?? null },
      });
      response.json({ delivered: fault === null, error: fault?.error ?? null });
    },
  },
  {
    method: 'get',
    path: `${base}/alert-messages`,
    operationId: 'list_alert_messages',
    summary: 'The messages of alerts, newest first: sent, waiting, given up, and held back in their quiet time',
    tag,
    query: messageQuery,
    status: 200,
    answer: alertMessagePage,
    async handle(request, response) {
      const { channel, limit, page_size, cursor } = readInput(messageQuery, request.query);
      const { items, nextCursor } = await context.storage.alerts.list({
        limit: sizeOf({ limit, page_size }),
        ...(channel !== undefined && { channel }),
        ...(cursor !== undefined && { cursor }),
      });
      response.json({
        items: items.map(({ id, channel: name, event, subject, createdAt, attempts, state, sentAt, lastError, content }) => ({
          id,
          channel: name,
          event,
          subject,
          title: content.title,
          text: content.text,
          state,
          attempts,
          created_at: isoTime(createdAt),
          sent_at: sentAt === null ? null : isoTime(sentAt),
          last_error: lastError,
        })),
        next_cursor: nextCursor,
      });
    },
  },
  {
    method: 'post',
    path: `${base}/access-keys/{name}/tell-owner`,
    operationId: 'tell_key_owner',
    summary: "Mail to a key's owner that the key leaked, by the first alert channel that sends mail (409 where there is none, or no address)",
    tag: 'access-keys',
    status: 200,
    answer: ownerTold,
    failures: [404, 409],
    async handle(request, response) {
      const stored = await context.storage.catalog.accessKeys.find(parameter(request, 'name'));
      if (!stored) throw new Problem('not_found', 'There is no access key of this name.');
      const { name, owner = '' } = stored.document;
      if (!owner.includes('@')) throw new Problem('conflict', 'The key has no owner with an e-mail address.');
      await alerts.mail(owner, {
        event: 'key_new_address',
        id: `told:${context.now()}`,
        quiet: `told:${name}`,
        subject: name,
        title: `Your access key ${name} turned up where it should not be`,
        text: `The access key ${name} of the model gateway turned up where it should not be. Please look where you have used it, and take a new one.`,
        data: { access_key: name },
      });
      await context.audit({
        ...auditOf(request, actorNameOf(response)),
        action: 'update',
        entity_type: 'access_key',
        entity_id: name,
        diff: { owner_told: owner },
      });
      response.json({ ['told']: owner });
    },
  },
];
