/** Access keys: shown in full once, kept as a hash to find them and sealed to copy them. */
import { accessKeySchema, budgetReplySchema, internalPrefix, sealedAs, showBudget } from '@model-gateway/contracts';
import { hashAccessKey, isAccessKeyFormat, maskKey, mintAccessKey } from '@model-gateway/secrets';
import type { AccessKeyDocument, CatalogReader } from '@model-gateway/storage';
import { z } from 'zod';
import { isoTime } from '../api/answers/iso-time.ts';
import { type Detail, invalidField, Problem } from '../problem.ts';
import { withOwnCredit } from '../statistics/credit-budget.ts';
import { joinPath } from '../validation/read-input.ts';
import type { BuildContext, Resource } from './resource.ts';
import { renewSeal } from './stored-secret.ts';
import { isMasked } from './upstream-keys.ts';

type AccessKey = z.output<typeof accessKeySchema>;

/** How a file gives a key that was never kept in full. */
const hashForm = /^sha256:([0-9a-f]{64})$/;
const ourPrefix = 'gk-';

export const accessKeys: Resource<AccessKeyDocument, AccessKey> = {
  path: 'access-keys',
  noun: 'access key',
  entityType: 'access_key',
  sortable: ['name', 'created_at', 'updated_at', 'group', 'owner'],
  filters: { group: 'group_name', owner: 'owner' },
  tagged: true,
  schema: accessKeySchema,
  partial: accessKeySchema.partial(),
  /** `key`: a mask, but right after it was made. */
  answer: accessKeySchema.extend({
    key: z.string(),
    last_used_at: z.iso.datetime().nullable(),
    previous_valid_until: z.iso.datetime().nullable().describe('Until then the value before the last rotation is let in as well'),
    budget: budgetReplySchema.nullable().default(null),
  }),
  reader: (reader) => reader.accessKeys,
  writer: (writer) => writer.accessKeys,
  toInput: ({ mask: _mask, hash: _hash, sealed: _sealed, previous: _previous, ...document }) => document,
  dropMasks: ({ key, ...fields }) => (typeof key === 'string' && isMasked(key) ? fields : { ...fields, ...(key !== undefined && { key }) }),
  toReply: ({ mask, hash: _hash, sealed: _sealed, previous, ...document }) => ({
    ...showBudget(document),
    key: mask,
    last_used_at: null,
    previous_valid_until: previous?.until ?? null,
  }),
  async complete(bodies, { storage, now }) {
    const used = await storage.lastUsed(bodies.map(({ name }) => String(name)));
    const at = now();
    return bodies.map((body) => {
      const last = used.get(String(body['name']));
      const until = body['previous_valid_until'];
      const over = typeof until === 'string' && Date.parse(until) <= at;
      return { ...body, ...(last !== undefined && { last_used_at: isoTime(last) }), ...(over && { previous_valid_until: null }) };
    });
  },
  secrets: ({ hash }) => ({ key: hash }),
  check: checkKey,
  async build({ key, ...fields }, context) {
    const { existing, writer, prefix } = context;
    const input = withOwnCredit(fields, existing?.document);
    if (!(await writer.keyGroups.find(input.group))) throw invalidField(joinPath(prefix, 'group'), 'there is no key group of this name');
    if (existing && existing.document.anonymous !== input.anonymous) throw invalidField(joinPath(prefix, 'anonymous'), 'cannot be changed after creation');
    const sent = isMasked(key) ? undefined : key;
    if (existing && (sent === undefined || hashOf(sent) === existing.document.hash)) {
      const { mask, hash, sealed, previous } = existing.document;
      const kept = { mask, hash, sealed: sealed === null ? null : renewSeal(context.context, sealed, sealedAs.accessKey(context.id)) };
      return { document: { ...input, ...kept, ...(previous && { previous }) } };
    }
    if (existing && !context.mayReplaceKey) throw invalidField('key', 'can be given at creation only: use rotate');
    if (!existing && key !== undefined && sent === undefined) throw invalidField(joinPath(prefix, 'key'), 'is a mask, not a key');
    const value = sent ?? mintAccessKey();
    const secret = sealValue(value, input.anonymous, context.id, context);
    await refuseSecondOwner(secret.hash, context);
    return { document: { ...input, ...secret }, shown: { key: value } };
  },
  checkRemoval: async () => undefined,
  toExport: ({ id, document: { mask: _mask, hash, sealed, previous: _previous, ...document } }, { reseal }) => ({
    ...showBudget(document),
    key: sealed === null ? `sha256:${hash}` : reseal(sealed, sealedAs.accessKey(id)),
  }),
};

function checkKey({ name, key, anonymous }: AccessKey): Detail[] {
  if (name.startsWith(internalPrefix)) return [{ field: 'name', message: `must not begin with ${internalPrefix}: calls of the gateway itself are named so` }];
  if (key === undefined || isMasked(key)) return [];
  if (key.startsWith('sha256:')) {
    if (!hashForm.test(key)) return [{ field: 'key', message: 'sha256: must be followed by 64 lower-case hexadecimal digits' }];
    return anonymous ? [] : [{ field: 'key', message: 'a hash alone can be given for anonymous keys only' }];
  }
  // The edge tells a typo in a key of ours by its checksum: such a key would never be let in.
  if (key.startsWith(ourPrefix) && !isAccessKeyFormat(key)) return [{ field: 'key', message: `begins with ${ourPrefix}, but its length or checksum is wrong` }];
  return [];
}

const hashOf = (value: string): string => hashForm.exec(value)?.[1] ?? hashAccessKey(value);

export function sealValue(value: string, anonymous: boolean, id: string, { context }: Pick<BuildContext<AccessKeyDocument>, 'context'>) {
  const mask = hashForm.test(value) ? '****' : maskKey(value);
  return { mask, hash: hashOf(value), sealed: anonymous ? null : context.keyring.seal(value, sealedAs.accessKey(id)) };
}

async function refuseSecondOwner(hash: string, { id, writer, prefix }: BuildContext<AccessKeyDocument>): Promise<void> {
  const [owner] = await (writer as CatalogReader).accessKeys.where('hash', hash, 1);
  if (owner && owner.id !== id) throw new Problem('conflict', 'Another access key has this value.', [{ field: joinPath(prefix, 'key'), message: 'is in use' }]);
}
