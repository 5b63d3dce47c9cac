/** Lists and ends sessions: one's own, and for admins those of others. */
import type { ConsoleSession } from '@model-gateway/storage';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { auditOf } from '../audit/audit-of.ts';
import { invalidField, Problem } from '../problem.ts';
import { type Actor, actorOf } from '../sign-in/actor.ts';
import type { SignIn } from '../sign-in/sign-in.ts';
import { readInput } from '../validation/read-input.ts';
import { sessionList } from './answers/account.ts';
import { isoTime } from './answers/iso-time.ts';
import { base, parameter, type Route } from './route.ts';

const tag = 'session';
/** A parameter that is misspelt would end one's own sessions instead: unknown ones are refused. */
const ofUser = z.strictObject({ username: z.string().min(1).max(128).optional() });
/** Newest first: nobody has more that matter. */
const listed = 500;

export function sessionRoutes({ store, sessions, audit, now }: SignIn): Route[] {
  const show = (session: ConsoleSession, username: string, own: ConsoleSession | null) => ({
    id: session.id,
    username,
    created_at: isoTime(session.createdAt),
    last_seen_at: isoTime(session.lastSeenAt),
    expires_at: isoTime(session.expiresAt),
    ends_at: isoTime(session.endsAt),
    ip_address: session.ipAddress,
    user_agent: session.userAgent,
    current: session.id === own?.id,
  });
  /** Whose sessions a call is about; null: everybody's (the secret key has none of its own). */
  const subjectOf = (request: Request, { username, role }: Actor): string | null => {
    const named = readInput(ofUser, request.query).username;
    if (named === undefined || named === username) return username;
    if (role !== 'admin') throw new Problem('forbidden', 'Only admins see the sessions of others.');
    return named;
  };
  const find = async (username: string) => {
    const user = await store.users.find(username);
    if (!user) throw new Problem('not_found', 'There is no console user of this name.');
    return user;
  };

  const list = async (request: Request, response: Response) => {
    const actor = actorOf(response);
    const name = subjectOf(request, actor);
    if (name === null) {
      const all = await store.sessions.listAll(now(), listed);
      return void response.json({ items: all.map((session) => show(session, session.username, null)) });
    }
    const mine = await store.sessions.listOf((await find(name)).id, now(), listed);
    // One's own as this very call has left it.
    response.json({ items: mine.map((session) => show(session.id === actor.session?.id ? actor.session : session, name, actor.session)) });
  };

  const removeOne = async (request: Request, response: Response) => {
    const actor = actorOf(response);
    const id = parameter(request, 'id');
    const user = await store.sessions.remove(id, actor.role === 'admin' ? undefined : actor.session?.userId);
    if (!user) throw new Problem('not_found', 'There is no such session.');
    sessions.announce(user.id);
    await audit({ ...auditOf(request, actor.actor), action: 'delete', entity_type: 'console_session', entity_id: id, diff: { username: user.username } });
    response.status(204).end();
  };

  const removeAll = async (request: Request, response: Response) => {
    const actor = actorOf(response);
    const name = subjectOf(request, actor);
    if (name === null) throw invalidField('username', 'is required: the secret key has no sessions of its own');
    const user = await find(name);
    await store.changeUsers((writer) => writer.endSessions(user.id));
    sessions.announce(user.id);
    await audit({ ...auditOf(request, actor.actor), action: 'sessions.revoke_all', entity_type: 'console_session', entity_id: name });
    response.status(204).end();
  };

  return [
    {
      method: 'get',
      path: `${base}/sessions`,
      operationId: 'list_sessions',
      summary: "Your sessions; with `username` another user's (admins)",
      tag,
      query: ofUser,
      status: 200,
      answer: sessionList,
      failures: [403, 404],
      handle: list,
    },
    {
      method: 'delete',
      path: `${base}/sessions`,
      operationId: 'end_sessions',
      summary: "End all of your sessions; with `username` another user's (admins)",
      tag,
      query: ofUser,
      status: 204,
      failures: [403, 404],
      handle: removeAll,
    },
    {
      method: 'delete',
      path: `${base}/sessions/{id}`,
      operationId: 'end_session',
      summary: 'End one session',
      tag,
      status: 204,
      failures: [404],
      handle: removeOne,
    },
  ];
}
