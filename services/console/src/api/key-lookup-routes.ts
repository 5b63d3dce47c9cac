/** Whose a value is: an access key's or an upstream's key, found by the whole value and nothing less. For a key that turned up where it should not be. */

import type { Attempts } from '@model-gateway/distributed-state';
import { hashAccessKey } from '@model-gateway/secrets';
import { z } from 'zod';
import { actorNameOf, auditOf } from '../audit/audit-of.ts';
import type { ConsoleContext } from '../context.ts';
import { Problem } from '../problem.ts';
import { fingerprintOfValue, keysOfValue } from '../resources/upstream-keys.ts';
import { readInput } from '../validation/read-input.ts';
import { lookupAnswer } from './answers/key-lookup.ts';
import { base, type Route } from './route.ts';

/** The value goes in the body, never into an address: addresses are logged. */
const lookupBody = z.strictObject({ key: z.string().min(1).max(16_384).describe('The whole value; it is neither stored nor logged') });

type Found = z.output<typeof lookupAnswer>;

const minuteMs = 60_000;
/** Enough for somebody with a list of leaked keys, too few to try values with a stolen session. */
const maxPerMinute = 30;

export const keyLookupRoutes = (context: ConsoleContext, attempts: Attempts): Route[] => [
  {
    method: 'post',
    path: `${base}/access-keys/lookup`,
    operationId: 'lookup_key',
    summary: `Whose a key is, by its whole value: an access key's or an upstream's (${maxPerMinute} a minute; recorded in the audit log without the value)`,
    tag: 'access-keys',
    body: lookupBody,
    status: 200,
    answer: lookupAnswer,
    failures: [429],
    async handle(request, response) {
      const actor = actorNameOf(response);
      if ((await attempts.add(`lookup:${actor}`, minuteMs)) > maxPerMinute)
        throw new Problem('rate_limited', `At most ${maxPerMinute} keys are looked up in a minute.`, { retryAfter: minuteMs / 1000 });
      // Copied from somewhere, a value has blanks around it.
      const value = readInput(lookupBody, request.body).key.trim();
      const found = await findKey(value, context);
      const { access_key, upstream_keys } = found;
      await context.audit({
        ...auditOf(request, actor),
        action: 'lookup',
        entity_type: access_key === null && upstream_keys.length > 0 ? 'upstream' : 'access_key',
        entity_id: access_key?.name ?? upstream_keys[0]?.upstream ?? '',
        diff: { found: access_key !== null || upstream_keys.length > 0, upstream_keys: upstream_keys.map(({ upstream, id }) => `${upstream}/${id}`) },
      });
      response.json(found);
    },
  },
];

async function findKey(value: string, context: ConsoleContext): Promise<Found> {
  const hash = hashAccessKey(value);
  const { owner, upstreams } = await context.storage.catalog.read(async (reader) => ({
    owner: ((await reader.accessKeys.where('hash', hash, 1))[0] ?? (await reader.accessKeys.where('previous_hash', hash, 1))[0])?.document,
    upstreams: await reader.upstreams.all(),
  }));
  const used = owner && (await context.storage.lastUsed([owner.name])).get(owner.name);
  return {
    access_key: owner
      ? {
          name: owner.name,
          group: owner.group,
          enabled: owner.enabled,
          expires_at: owner.expires_at,
          owner: owner.owner ?? '',
          superseded: owner.hash === hash ? null : { valid_until: owner.previous?.until ?? null },
          last_used_at: used === undefined ? null : new Date(used).toISOString(),
        }
      : null,
    upstream_keys: upstreams.flatMap(({ id, document }) =>
      keysOfValue(value, id, document.api_keys, context).map((key) => ({
        upstream: document.name,
        upstream_enabled: document.enabled,
        id: key.id,
        position: document.api_keys.indexOf(key) + 1,
        label: key.label ?? null,
        fingerprint: fingerprintOfValue(value, context),
      })),
    ),
  };
}
