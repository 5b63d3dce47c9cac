/** Copying and rotating access keys. */
import { sealedAs } from '@model-gateway/contracts';
import { mintAccessKey } from '@model-gateway/secrets';
import type { AccessKeyDocument, CatalogReader, StoredResource } from '@model-gateway/storage';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { actorNameOf, auditOf } from '../audit/audit-of.ts';
import type { ConsoleContext } from '../context.ts';
import { type Call, commit } from '../history/commit.ts';
import { Problem } from '../problem.ts';
import { sealValue } from '../resources/access-keys.ts';
import { etagMatches, formatEtag } from '../resources/etag.ts';
import type { ResourceOperations } from '../resources/operations.ts';
import { readInput } from '../validation/read-input.ts';
import { copiedKey } from './answers/configuration.ts';
import { base, parameter, type Route } from './route.ts';

const hourMs = 3_600_000;
/** A month is time enough for everybody who has the old value. */
export const rotateBody = z.strictObject({
  overlap_hours: z.number().min(0).max(744).default(0).describe('Hours that the old value works beside the new one'),
});

interface Rotation {
  name: string;
  overlapHours: number;
  /** Finds the key inside the transaction, and throws where the caller may not change it. */
  find: (reader: CatalogReader) => Promise<StoredResource<AccessKeyDocument>>;
}

/** A new value; the old one works for some hours more, or stops at once. Of several earlier values one at most: a second rotation ends the time of the first. */
export async function rotateKey(context: ConsoleContext, call: Call, { name, overlapHours, find }: Rotation): Promise<{ key: string }> {
  const key = mintAccessKey();
  const until = overlapHours === 0 ? null : new Date(context.now() + overlapHours * hourMs).toISOString();
  const purpose = { action: 'rotate', entity_type: 'access_key', entity_id: name } as const;
  await commit(context, call, purpose, async (writer) => {
    const stored = await find(writer);
    const { mask, hash } = stored.document;
    // Also where the old value stops at once: it may turn up somewhere, and is asked for then.
    await writer.accessKeys.update(stored, {
      ...stored.document,
      previous: { mask, hash, until },
      ...sealValue(key, stored.document.anonymous, stored.id, { context }),
    });
  });
  return { key };
}

export function accessKeyRoutes(accessKeys: ResourceOperations, context: ConsoleContext): Route[] {
  const { storage, keyring, audit } = context;
  const find = async (reader: CatalogReader, name: string): Promise<StoredResource<AccessKeyDocument>> => {
    const stored = await reader.accessKeys.find(name);
    if (!stored) throw new Problem('not_found', 'There is no access key of this name.');
    return stored;
  };
  const reveal = async (request: Request, response: Response) => {
    const { id, document } = await find(storage.catalog, parameter(request, 'name'));
    if (document.sealed === null) throw new Problem('conflict', 'An anonymous key is stored as a hash only: its value cannot be shown again.');
    const value = keyring.open(document.sealed, sealedAs.accessKey(id));
    await audit({ ...auditOf(request, actorNameOf(response)), action: 'reveal', entity_type: 'access_key', entity_id: document.name });
    // `key`, as the resource calls it, and `api_key`, as the path does.
    response.json({ name: document.name, key: value, api_key: value });
  };
  const copy = {
    method: 'get',
    summary: 'The full value of an access key (409 for anonymous ones)',
    tag: accessKeys.path,
    status: 200,
    answer: copiedKey,
    failures: [404, 409],
    handle: reveal,
  } as const;

  return [
    { ...copy, path: `${base}/access-keys/{name}/api-key`, operationId: 'copy_access_key' },
    // The specification's own path, outside the console's base.
    { ...copy, path: '/access-keys/{name}/api-key', operationId: 'copy_access_key_bare' },
    {
      method: 'post',
      path: `${base}/access-keys/{name}/rotate`,
      operationId: 'rotate_access_key',
      summary: 'Replace the value of an access key; the new one is shown once. With `overlap_hours` the old value works so much longer',
      tag: accessKeys.path,
      body: rotateBody,
      conditional: true,
      status: 200,
      answer: accessKeys.answer,
      failures: [404, 412],
      async handle(request, response) {
        const name = parameter(request, 'name');
        const { overlap_hours } = readInput(rotateBody, request.body ?? {});
        const findIt = async (reader: CatalogReader) => {
          const stored = await find(reader, name);
          etagMatches(stored.etag, request.get('if-match'));
          return stored;
        };
        const { key } = await rotateKey(context, { request, response }, { name, overlapHours: overlap_hours, find: findIt });
        const value = await accessKeys.read(storage.catalog, name);
        response.set('ETag', formatEtag(value.etag)).json({ ...value.body, key });
      },
    },
    {
      method: 'post',
      path: `${base}/access-keys/{name}/end-overlap`,
      operationId: 'end_access_key_overlap',
      summary: 'The value before the last rotation stops working at once',
      tag: accessKeys.path,
      conditional: true,
      status: 200,
      answer: accessKeys.answer,
      failures: [404, 412],
      async handle(request, response) {
        const name = parameter(request, 'name');
        const purpose = { action: 'update', entity_type: 'access_key', entity_id: name } as const;
        const { value } = await commit(context, { request, response }, purpose, async (writer) => {
          const stored = await find(writer, name);
          etagMatches(stored.etag, request.get('if-match'));
          const { previous } = stored.document;
          if (previous?.until) await writer.accessKeys.update(stored, { ...stored.document, previous: { ...previous, until: null } });
          return accessKeys.read(writer, name);
        });
        response.set('ETag', formatEtag(value.etag)).json(value.body);
      },
    },
  ];
}
