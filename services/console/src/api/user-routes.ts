/** Console users: made, changed and removed by admins, never down to no admin at all. */
import { randomUUID } from 'node:crypto';
import type { AuditAction } from '@model-gateway/contracts';
import type { ConsoleUser, UserWriter } from '@model-gateway/storage';
import type { Request, Response } from 'express';
import { auditOf } from '../audit/audit-of.ts';
import type { Call } from '../history/commit.ts';
import { invalidField, Problem } from '../problem.ts';
import { etagMatches, etagOf, formatEtag } from '../resources/etag.ts';
import { actorOf } from '../sign-in/actor.ts';
import type { SignIn } from '../sign-in/sign-in.ts';
import { resetBody, userChange, userSchema } from '../sign-in/user-fields.ts';
import { readInput } from '../validation/read-input.ts';
import { shownUser } from './answers/account.ts';
import { pageOf } from './answers/common.ts';
import { isoTime } from './answers/iso-time.ts';
import { listQuery, toListQuery } from './list-query.ts';
import { base, parameter, type Route } from './route.ts';

const tag = 'users';
const all = `${base}/users`;
const one = `${all}/{username}`;
const sortable = ['username', 'role', 'created_at', 'updated_at', 'last_login_at'];
/** Of replies; sent back with a whole object they mean nothing. */
const readOnly = new Set(['id', 'has_password', 'identity', 'etag', 'created_at', 'updated_at', 'last_login_at']);

const secret = new Set(['password', 'password_hash']);

/** What the routes of users do. */
function createUserActions({ store, passwords, sessions, audit }: SignIn) {
  const answer = (response: Response, status: number, user: ConsoleUser) => response.status(status).set('ETag', formatEtag(user.etag)).json(show(user));
  const record = ({ request, response }: Call, action: AuditAction, user: ConsoleUser, diff?: Record<string, unknown>) =>
    audit({ ...auditOf(request, actorOf(response).actor), action, entity_type: 'console_user', entity_id: user.username, ...(diff && { diff }) });
  const find = async (reader: Pick<UserWriter, 'find'>, username: string) => {
    const user = await reader.find(username);
    if (!user) throw new Problem('not_found', 'There is no console user of this name.');
    return user;
  };

  const create = async (request: Request, response: Response) => {
    const { username, role, enabled, email = null, password, password_hash = null } = readInput(userSchema, fieldsOf(request.body));
    const passwordHash = password === undefined ? password_hash : await passwords.hash(password);
    if (passwordHash === null) throw invalidField('password', 'is required');
    const user = await store.changeUsers(async (writer) => {
      if (await writer.find(username))
        throw new Problem('conflict', 'There is already a console user of this name.', [{ field: 'username', message: 'is taken' }]);
      return writer.insert({ id: randomUUID(), username, role, enabled, passwordHash, identity: null, email });
    });
    await record({ request, response }, 'create', user, { role, enabled });
    answer(response, 201, user);
  };

  const update = async (request: Request, response: Response) => {
    const name = parameter(request, 'username');
    const { username, ...fields } = fieldsOf(request.body);
    if (username !== undefined && username !== name) throw invalidField('username', 'cannot be changed: the audit log refers to it');
    const change = readInput(userChange, fields);
    const passwordHash = change.password === undefined ? undefined : await passwords.hash(change.password);
    const { before, after } = await store.changeUsers(async (writer) => {
      const user = await find(writer, name);
      etagMatches(user.etag, request.get('if-match'));
      etagMatches(user.etag, etagOf(request.body));
      const wanted = { role: change.role ?? user.role, enabled: change.enabled ?? user.enabled, email: change.email === undefined ? user.email : change.email };
      if (user.identity !== null && wanted.email !== user.email) throw invalidField('email', 'is what the identity provider says of this user');
      const isSame = wanted.role === user.role && wanted.enabled === user.enabled && wanted.email === user.email;
      if (isSame && passwordHash === undefined) return { before: user, after: user };
      if (wanted.role !== 'admin' || !wanted.enabled) await keepAnAdmin(writer, user);
      const changed = await writer.update(user, { ...wanted, ...(passwordHash !== undefined && { passwordHash }) });
      if (!wanted.enabled || wanted.role !== user.role || passwordHash !== undefined) await writer.endSessions(user.id);
      return { before: user, after: changed };
    });
    if (after !== before) sessions.announce(after.id);
    const diff = differences(before, after);
    if (Object.keys(diff).length > 0) await record({ request, response }, 'update', after, diff);
    if (passwordHash !== undefined) await record({ request, response }, 'admin_change_password', after);
    answer(response, 200, after);
  };

  const remove = async (request: Request, response: Response) => {
    const user = await store.changeUsers(async (writer) => {
      const found = await find(writer, parameter(request, 'username'));
      etagMatches(found.etag, request.get('if-match'));
      await keepAnAdmin(writer, found);
      await writer.remove(found.id);
      return found;
    });
    sessions.announce(user.id);
    await record({ request, response }, 'delete', user);
    response.status(204).end();
  };

  const reset = async (request: Request, response: Response) => {
    const { password } = readInput(resetBody, request.body);
    const passwordHash = await passwords.hash(password);
    const user = await store.changeUsers(async (writer) => {
      const found = await find(writer, parameter(request, 'username'));
      etagMatches(found.etag, request.get('if-match'));
      await writer.endSessions(found.id);
      return writer.update(found, { passwordHash });
    });
    sessions.announce(user.id);
    await record({ request, response }, 'admin_change_password', user);
    response.status(204).end();
  };

  const list = async (request: Request, response: Response) => {
    const query = readInput(listQuery, request.query);
    const { items, total } = await store.users.list(toListQuery(query, sortable));
    response.json({ items: items.map(show), total, page: query.page, page_size: query.page_size });
  };
  const read = async (request: Request, response: Response) => void answer(response, 200, await find(store.users, parameter(request, 'username')));

  return { list, create, read, update, remove, reset };
}

/** The routes under `/users`. */
export function userRoutes(signIn: SignIn): Route[] {
  const { list, create, read, update, remove, reset } = createUserActions(signIn);
  return [
    {
      method: 'get',
      path: all,
      operationId: 'list_users',
      summary: 'List users',
      tag,
      query: listQuery,
      status: 200,
      answer: pageOf(shownUser),
      handle: list,
    },
    {
      method: 'post',
      path: all,
      operationId: 'create_users',
      summary: 'Create one',
      tag,
      body: userSchema,
      status: 201,
      answer: shownUser,
      failures: [409],
      handle: create,
    },
    {
      method: 'get',
      path: one,
      operationId: 'read_users',
      summary: 'Read one',
      tag,
      status: 200,
      answer: shownUser,
      failures: [404],
      handle: read,
    },
    ...(['put', 'patch'] as const).map(
      (method): Route => ({
        method,
        path: one,
        operationId: `${method}_users`,
        summary: 'Change one (merge: a field that is not sent stays); a new role or password, or disabling, ends the sessions',
        tag,
        body: userChange,
        conditional: true,
        status: 200,
        answer: shownUser,
        failures: [404, 412],
        handle: update,
      }),
    ),
    {
      method: 'delete',
      path: one,
      operationId: 'delete_users',
      summary: 'Delete one',
      tag,
      conditional: true,
      status: 204,
      failures: [404, 412],
      handle: remove,
    },
    {
      method: 'post',
      path: `${one}/password`,
      operationId: 'reset_user_password',
      summary: 'Set the password of a user; the sessions end',
      tag,
      body: resetBody,
      conditional: true,
      status: 204,
      failures: [404, 412],
      handle: reset,
    },
  ];
}

const show = (user: ConsoleUser): Record<string, unknown> => ({
  id: user.id,
  username: user.username,
  role: user.role,
  enabled: user.enabled,
  has_password: user.passwordHash !== null,
  email: user.email,
  identity: user.identity?.issuer ?? null,
  etag: String(user.etag),
  created_at: isoTime(user.createdAt),
  updated_at: isoTime(user.updatedAt),
  last_login_at: user.lastLoginAt === null ? null : isoTime(user.lastLoginAt),
});

async function keepAnAdmin(writer: UserWriter, user: ConsoleUser): Promise<void> {
  if (user.role !== 'admin' || !user.enabled || (await writer.countOtherAdmins(user.id)) > 0) return;
  throw new Problem('in_use', 'This is the last enabled admin: make another one first.', [{ field: 'role', message: 'is the last enabled admin' }]);
}

function differences(before: ConsoleUser, after: ConsoleUser): Record<string, unknown> {
  const diff: Record<string, unknown> = {};
  for (const field of ['role', 'enabled', 'email'] as const) if (before[field] !== after[field]) diff[field] = { before: before[field], after: after[field] };
  return diff;
}

/** The body without what is not the client's to set; a null means the default, and of a secret that it stays. */
function fieldsOf(body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalidField('body', 'must be an object');
  const given = Object.entries(body).filter(([name, value]) => !readOnly.has(name) && !(value === null && secret.has(name)));
  return Object.fromEntries(given.map(([name, value]) => [name, value === null && name === 'enabled' ? true : value]));
}
