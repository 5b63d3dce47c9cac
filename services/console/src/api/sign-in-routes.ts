/** Signing in and out by password, and one's own account. */
import type { Request, Response } from 'express';
import { auditOf } from '../audit/audit-of.ts';
import { invalidField, Problem } from '../problem.ts';
import { actorOf, visitorOf } from '../sign-in/actor.ts';
import type { SignIn } from '../sign-in/sign-in.ts';
import { loginBody, ownPasswordBody } from '../sign-in/user-fields.ts';
import { readInput } from '../validation/read-input.ts';
import { ownAccount, signedIn, signInOptions } from './answers/account.ts';
import { isoTime } from './answers/iso-time.ts';
import { base, type Route } from './route.ts';

const tag = 'session';

/** What the routes of signing in do. */
function createSignInActions(signIn: SignIn) {
  const { store, passwords, sessions, guard, audit } = signIn;

  /** null: anything is wrong with it; what exactly is not the caller's to know. */
  const verify = async (username: string, password: string) => {
    // Nobody is named so, and PostgreSQL would not even look.
    const user = username.includes('\0') ? null : await store.users.find(username);
    const hash = user?.passwordHash ?? null;
    const { ok, upgrade } = await passwords.verify(password, hash);
    if (!ok || !user?.enabled) return null;
    return { user, upgrade: upgrade && hash !== null ? { from: hash, to: await passwords.hash(password) } : null };
  };

  const login = async (request: Request, response: Response) => {
    const visitor = visitorOf(request);
    await guard.refuseBanned(visitor.ipAddress);
    const { username, password } = readInput(loginBody, request.body);
    const opened = await guard.attempt(visitor.ipAddress, username, async () => {
      const found = await verify(username, password);
      const session = found && (await sessions.open(found.user, visitor));
      return session && { ...found, ...session };
    });
    const record = { ...auditOf(request, username.slice(0, 128)), entity_type: 'console_user', entity_id: username.slice(0, 128) } as const;
    if (!opened) {
      await audit({ ...record, action: 'login.failure' });
      throw new Problem('login_failed');
    }
    const { user, upgrade, session, token } = opened;
    await store.users.touch(user.id, { lastLoginAt: signIn.now(), ...(upgrade && { upgrade }) });
    await audit({ ...record, action: 'login.success' });
    response.json({ token, expires_at: isoTime(session.expiresAt), user: { username: user.username, role: user.role } });
  };

  const logout = async (request: Request, response: Response) => {
    const { actor, session } = actorOf(response);
    if (session) {
      await store.sessions.remove(session.id);
      sessions.announce(session.userId);
      await audit({ ...auditOf(request, actor), action: 'logout', entity_type: 'console_session', entity_id: session.id });
    }
    response.status(204).end();
  };

  const changePassword = async (request: Request, response: Response) => {
    const { actor, username, session } = actorOf(response);
    if (username === null || session === null) throw new Problem('forbidden', 'The secret key has no password: sign in as a user.');
    const { current_password, new_password } = readInput(ownPasswordBody, request.body);
    const found = await guard.attempt(visitorOf(request).ipAddress, username, () => verify(username, current_password));
    if (!found) throw invalidField('current_password', 'is not your password');
    const passwordHash = await passwords.hash(new_password);
    await store.changeUsers(async (writer) => {
      const user = await writer.find(username);
      if (user?.etag !== found.user.etag) throw new Problem('precondition_failed', 'Your account was changed in the meantime: try again.');
      await writer.update(user, { passwordHash });
      await writer.endSessions(user.id, session.id);
    });
    sessions.announce(found.user.id);
    await audit({ ...auditOf(request, actor), action: 'change_password', entity_type: 'console_user', entity_id: username });
    response.status(204).end();
  };

  const me = (_request: Request, response: Response) => {
    const { session, ...actor } = actorOf(response);
    const own = session && {
      session: { id: session.id, expires_at: isoTime(session.expiresAt), ends_at: isoTime(session.endsAt) },
    };
    response.json({ ...actor, ...own });
  };

  return { login, logout, changePassword, me };
}

/** `label` null: no OpenID provider is configured. */
export function signInRoutes(signIn: SignIn, { label }: { label: string | null }): Route[] {
  const { login, logout, changePassword, me } = createSignInActions(signIn);
  return [
    {
      method: 'get',
      path: `${base}/sign-in-options`,
      operationId: 'read_sign_in_options',
      summary: 'The ways to sign in',
      tag,
      status: 200,
      answer: signInOptions,
      handle: (_request, response) => void response.json({ password: true, oidc: label === null ? null : { label } }),
    },
    {
      method: 'post',
      path: `${base}/login`,
      operationId: 'login',
      summary: 'Sign in by password; the token is the bearer of the other calls, for 24 hours from the last one',
      tag,
      body: loginBody,
      status: 200,
      answer: signedIn,
      failures: [429],
      handle: login,
    },
    { method: 'post', path: `${base}/logout`, operationId: 'logout', summary: 'End this session', tag, status: 204, handle: logout },
    { method: 'get', path: `${base}/me`, operationId: 'read_me', summary: 'Who the credential stands for', tag, status: 200, answer: ownAccount, handle: me },
    {
      method: 'post',
      path: `${base}/me/password`,
      operationId: 'change_own_password',
      summary: 'Change your password; your other sessions end',
      tag,
      body: ownPasswordBody,
      status: 204,
      failures: [403, 412, 429],
      handle: changePassword,
    },
  ];
}
