/** Where and when an access key was used: what one looks at when it leaked. */
import { printMoney } from '@model-gateway/contracts';
import type { KeyAddress, KeyUsePart } from '@model-gateway/storage';
import { z } from 'zod';
import { newAddressMs } from '../attention/new-addresses.ts';
import { actorNameOf, auditOf } from '../audit/audit-of.ts';
import type { ConsoleContext } from '../context.ts';
import { Problem } from '../problem.ts';
import { readInput } from '../validation/read-input.ts';
import { isoTime } from './answers/iso-time.ts';
import { acceptedAddresses, keyUseAnswer } from './answers/key-use.ts';
import { dayMs, instant } from './instant.ts';
import { base, parameter, type Route } from './route.ts';

const tag = 'access-keys';
const useQuery = z.strictObject({ from: instant, to: instant });
/** A leak is often noticed late. */
const usualRangeMs = 30 * dayMs;

export const keyUseRoutes = (context: ConsoleContext): Route[] => [
  {
    method: 'get',
    path: `${base}/access-keys/{name}/use`,
    operationId: 'read_key_use',
    summary: 'Where, with what and for which models a key was used, by its latest requests: the last 30 days unless `from` says otherwise',
    tag,
    query: useQuery,
    status: 200,
    answer: keyUseAnswer,
    failures: [404],
    async handle(request, response) {
      const { from, to = context.now() + 60_000 } = readInput(useQuery, request.query);
      const { name, owner = '' } = await findKey(parameter(request, 'name'), context);
      const range = { from: from ?? to - usualRangeMs, to };
      const [{ total, truncated, addresses, agents, models }, known] = await Promise.all([
        context.storage.requests.readKeyUse({ accessKey: name, ...range }),
        context.storage.keyAddresses.list(name),
      ]);
      response.json({
        name,
        owner,
        from: isoTime(range.from),
        to: isoTime(range.to),
        total: total && figuresOf(total),
        truncated,
        addresses: addresses.map(showPart),
        user_agents: agents.map(showPart),
        models: models.map(showPart),
        known_addresses: showKnown(known, context.now()),
      });
    },
  },
  {
    method: 'post',
    path: `${base}/access-keys/{name}/accept-addresses`,
    operationId: 'accept_key_addresses',
    summary: "Says that all addresses that the key was used from are its owner's: none of them wants attention any more",
    tag,
    status: 200,
    answer: acceptedAddresses,
    failures: [404],
    async handle(request, response) {
      const { name } = await findKey(parameter(request, 'name'), context);
      const accepted = await context.storage.keyAddresses.accept(name, context.now());
      const entry = { action: 'update', entity_type: 'access_key', entity_id: name, diff: { accepted_addresses: accepted } } as const;
      if (accepted > 0) await context.audit({ ...auditOf(request, actorNameOf(response)), ...entry });
      response.json({ accepted });
    },
  },
];

async function findKey(name: string, { storage }: ConsoleContext) {
  const stored = await storage.catalog.accessKeys.find(name);
  if (!stored) throw new Problem('not_found', 'There is no access key of this name.');
  return stored.document;
}

const figuresOf = ({ requests, errors, firstAt, lastAt, cost }: KeyUsePart) => ({
  requests,
  errors,
  first_at: isoTime(firstAt),
  last_at: isoTime(lastAt),
  cost: cost.map((one) => ({ ...one, cost: printMoney(one.cost_micros) })),
});

const showPart = (part: KeyUsePart) => ({ value: part.value, ...figuresOf(part) });

function showKnown(known: readonly KeyAddress[], now: number) {
  const earliest = Math.min(...known.map(({ first_at }) => first_at));
  return known.map(({ address, first_at, last_at, accepted_at }) => ({
    address,
    first_at: isoTime(first_at),
    last_at: isoTime(last_at),
    accepted_at: accepted_at === null ? null : isoTime(accepted_at),
    is_new: accepted_at === null && first_at > earliest && first_at >= now - newAddressMs,
  }));
}
