/** Credentials that upstreams get by a login. */
import { resourceName } from '@model-gateway/contracts';
import type { LoginProfile } from '@model-gateway/protocols/login';
import type { SsoCredential } from '@model-gateway/storage';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { actorNameOf, auditOf } from '../audit/audit-of.ts';
import type { ConsoleContext } from '../context.ts';
import { Problem } from '../problem.ts';
import { etagMatches, formatEtag } from '../resources/etag.ts';
import type { ResourceOperations } from '../resources/operations.ts';
import { upstreamKeyMask } from '../resources/upstream-keys.ts';
import { changeBody, changeCredential } from '../sso/change-credential.ts';
import { createUpstream, newUpstream } from '../sso/create-upstream.ts';
import { findCredential, importPasted, showCredential, usersOf } from '../sso/credentials.ts';
import { TokenFault } from '../sso/token-http.ts';
import { readInput } from '../validation/read-input.ts';
import { pageOf } from './answers/common.ts';
import { importedCredential, ssoCredential, ssoProfiles } from './answers/sso.ts';
import { listQuery, toListQuery } from './list-query.ts';
import { base, parameter, type Route } from './route.ts';

const tag = 'sso-credentials';
const all = `${base}/sso-credentials`;
const one = `${all}/{name}`;
const settings = z.record(z.string().max(64), z.string().max(65_536));

/** What every way of taking a credential in says of it. */
export const newCredential = z.strictObject({
  name: resourceName,
  profile: z.string().max(64),
  description: z.string().max(2000).optional(),
  settings: settings.optional(),
  account: z.string().min(1).max(200).optional().describe('Whose it is, where the vendor does not tell'),
  replace: z.boolean().optional().describe('Gives new tokens to the credential of this name'),
  upstream: newUpstream.optional(),
});
const importBody = newCredential.extend({
  tokens: z.string().min(1).max(262_144).optional().describe('The JSON that the vendor or its client wrote, or a refresh token; not for machine identities'),
});
const showProfile = (profile: LoginProfile) => ({
  ...showFields(profile),
  flows: [...profile.flows],
});

const showFields = ({ id, name, note, experimental, protocols, settings: fields }: LoginProfile) => ({
  id,
  name,
  note,
  experimental,
  protocols: [...protocols],
  settings: Object.entries(fields).map(([field, { description: text, fallback, optional, secret }]) => ({
    name: field,
    description: text,
    default: fallback ?? null,
    required: fallback === undefined && !optional,
    secret: secret === true,
  })),
});

export const ssoRoutes = (upstreams: ResourceOperations, context: ConsoleContext): Route[] => [
  profilesRoute(context),
  listRoute(context),
  readRoute(context),
  ...changeRoutes(context),
  deleteRoute(context),
  importRoute(upstreams, context),
  refreshRoute(context),
];

const profilesRoute = ({ sso }: ConsoleContext): Route => ({
  method: 'get',
  path: `${base}/sso-profiles`,
  operationId: 'list_sso_profiles',
  summary: 'The kinds of logins that are enabled here',
  tag,
  status: 200,
  answer: ssoProfiles,
  handle(_request, response) {
    response.json({ items: sso.gates.list().map(showProfile) });
  },
});

async function answer(response: Response, row: SsoCredential, context: ConsoleContext): Promise<void> {
  const users = await usersOf(context);
  response
    .status(200)
    .set('ETag', formatEtag(row.version))
    .json(showCredential(row, users.get(row.name) ?? [], context));
}

const sortable = ['name', 'profile', 'state', 'expires_at', 'created_at', 'updated_at'] as const;

/** There are few of them: sorted and searched here. */
const listRoute = (context: ConsoleContext): Route => ({
  method: 'get',
  path: all,
  operationId: 'list_sso_credentials',
  summary: 'List sso-credentials',
  tag,
  query: listQuery,
  status: 200,
  answer: pageOf(ssoCredential),
  async handle(request, response) {
    const { page, pageSize, search = '', sort } = toListQuery(readInput(listQuery, request.query), sortable);
    const users = await usersOf(context);
    const shown = (await context.storage.ssoCredentials.all())
      .map((row) => showCredential(row, users.get(row.name) ?? [], context))
      .filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
    const column = (sort?.column ?? 'name') as (typeof sortable)[number];
    shown.sort((a, b) => (a[column] ?? '').localeCompare(b[column] ?? '') * (sort?.descending ? -1 : 1));
    response.json({ items: shown.slice((page - 1) * pageSize, page * pageSize), total: shown.length, page, page_size: pageSize });
  },
});

const readRoute = (context: ConsoleContext): Route => ({
  method: 'get',
  path: one,
  operationId: 'read_sso_credentials',
  summary: 'Read one',
  tag,
  status: 200,
  answer: ssoCredential,
  failures: [404],
  async handle(request, response) {
    await answer(response, await findCredential(parameter(request, 'name'), context), context);
  },
});

function changeRoutes(context: ConsoleContext): Route[] {
  const handle = async (request: Request, response: Response): Promise<void> => {
    const name = parameter(request, 'name');
    const { changed } = await changeCredential(name, request.body, request.get('if-match'), context);
    if (Object.keys(changed).length > 0)
      await context.audit({ ...auditOf(request, actorNameOf(response)), action: 'update', entity_type: 'sso_credential', entity_id: name, diff: changed });
    if (changed['state']) await context.sso.sync();
    await answer(response, await findCredential(name, context), context);
  };
  return (['put', 'patch'] as const).map(
    (method): Route => ({
      method,
      path: one,
      operationId: `${method}_sso_credentials`,
      summary:
        'Change its description, settings or state (merge: a field that is not sent stays, null resets it to its default); its tokens come from a login only',
      tag,
      body: changeBody,
      conditional: true,
      status: 200,
      answer: ssoCredential,
      failures: [404, 412],
      handle,
    }),
  );
}

const deleteRoute = (context: ConsoleContext): Route => ({
  method: 'delete',
  path: one,
  operationId: 'delete_sso_credentials',
  summary: 'Delete one; what the vendor gave is forgotten, and should be revoked there',
  tag,
  conditional: true,
  status: 204,
  failures: [404, 412],
  async handle(request, response) {
    const row = await findCredential(parameter(request, 'name'), context);
    etagMatches(row.version, request.get('if-match'));
    const users = (await usersOf(context)).get(row.name) ?? [];
    if (users.length > 0)
      throw new Problem(
        'in_use',
        `The credential is still used by upstreams: ${users.slice(0, 20).join(', ')}.`,
        users.slice(0, 20).map((message) => ({ field: 'upstreams', message })),
      );
    if (!(await context.storage.ssoCredentials.remove(row.id))) throw new Problem('not_found', 'There is no credential of this name.');
    await context.audit({
      ...auditOf(request, actorNameOf(response)),
      action: 'delete',
      entity_type: 'sso_credential',
      entity_id: row.name,
      diff: { profile: row.profile, account: row.account, tokens: row.tokens === null ? null : upstreamKeyMask },
    });
    response.status(204).end();
  },
});

/** Writes of a credential that was taken in: how, and whose it is; its tokens are a mask. */
export const auditOfImport = (request: Request, response: Response, row: SsoCredential, { flow, replaced }: { flow: string; replaced: boolean }) =>
  ({
    ...auditOf(request, actorNameOf(response)),
    action: replaced ? 'rotate' : 'import',
    entity_type: 'sso_credential',
    entity_id: row.name,
    diff: { profile: row.profile, account: row.account, flow, tokens: upstreamKeyMask },
  }) as const;

const importRoute = (upstreams: ResourceOperations, context: ConsoleContext): Route => ({
  method: 'post',
  path: `${all}/import`,
  operationId: 'import_sso_credential',
  summary: 'Take in what another client of the vendor was given, or set up a machine identity; with `upstream`, make that too',
  tag,
  body: importBody,
  status: 201,
  answer: importedCredential,
  failures: [409],
  async handle(request, response) {
    const { tokens, upstream, ...given } = readInput(importBody, request.body);
    const row = await importPasted(given, tokens, context);
    await context.audit(auditOfImport(request, response, row, { flow: 'import', replaced: given.replace === true }));
    response.status(201).json(await showImported(row, upstream, { upstreams, context, call: { request, response } }));
  },
});

/** The credential as it is after its upstream was made. */
export async function showImported(row: SsoCredential, upstream: z.infer<typeof newUpstream> | undefined, deps: Parameters<typeof createUpstream>[2]) {
  const made = await createUpstream(row, upstream, deps);
  const users = await usersOf(deps.context);
  return { credential: showCredential(row, users.get(row.name) ?? [], deps.context), ...made };
}

const refreshRoute = (context: ConsoleContext): Route => ({
  method: 'post',
  path: `${one}/refresh`,
  operationId: 'refresh_sso_credential',
  summary: 'Renew its token now, whatever its state',
  tag,
  status: 200,
  answer: ssoCredential,
  failures: [404, 502],
  async handle(request, response) {
    const { name } = await findCredential(parameter(request, 'name'), context);
    let row: SsoCredential;
    try {
      row = await context.sso.refresher.renew(name);
    } catch (error) {
      if (error instanceof TokenFault && error.code === 'profile_disabled') throw new Problem('validation_failed', error.message);
      if (error instanceof TokenFault) throw new Problem('upstream_credential', error.message);
      throw error;
    }
    await context.sso.sync();
    await context.audit({
      ...auditOf(request, actorNameOf(response)),
      action: 'rotate',
      entity_type: 'sso_credential',
      entity_id: name,
      diff: { profile: row.profile, account: row.account, tokens: upstreamKeyMask },
    });
    await answer(response, row, context);
  },
});
