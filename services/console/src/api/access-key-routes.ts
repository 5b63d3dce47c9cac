/** Copying and rotating access keys. */
import { sealedAs } from '@model-gateway/contracts';
import { mintAccessKey } from '@model-gateway/secrets';
import type { AccessKeyDocument, CatalogReader, StoredResource } from '@model-gateway/storage';
import type { Request, Response } from 'express';
import { actorNameOf, auditOf } from '../audit/audit-of.ts';
import type { ConsoleContext } from '../context.ts';
import { commit } from '../history/commit.ts';
import { Problem } from '../problem.ts';
import { sealValue } from '../resources/access-keys.ts';
import { etagMatches, formatEtag } from '../resources/etag.ts';
import type { ResourceOperations } from '../resources/operations.ts';
import { copiedKey } from './answers/configuration.ts';
import { base, parameter, type Route } from './route.ts';

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
      summary: 'Replace the value of an access key; the new one is shown once',
      tag: accessKeys.path,
      conditional: true,
      status: 200,
      answer: accessKeys.answer,
      failures: [404, 412],
      async handle(request, response) {
        const name = parameter(request, 'name');
        const key = mintAccessKey();
        const purpose = { action: 'rotate', entity_type: 'access_key', entity_id: name } as const;
        const { value } = await commit(context, { request, response }, purpose, async (writer) => {
          const stored = await find(writer, name);
          etagMatches(stored.etag, request.get('if-match'));
          await writer.accessKeys.update(stored, { ...stored.document, ...sealValue(key, stored.document.anonymous, stored.id, { context }) });
          return accessKeys.read(writer, name);
        });
        response.set('ETag', formatEtag(value.etag)).json({ ...value.body, key });
      },
    },
  ];
}
