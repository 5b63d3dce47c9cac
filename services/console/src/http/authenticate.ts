/** Admits holders of the console's secret key or of a session token, and gives routes the signed-in user. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { ConsoleRole, ConsoleSession } from '@model-gateway/storage';
import type { NextFunction, Request, Response } from 'express';
import { Problem } from '../problem.ts';
import { type Actor, keyActor, visitorOf } from '../sign-in/actor.ts';
import type { AttemptGuard } from '../sign-in/attempt-guard.ts';
import { isSessionToken, type SessionKeeper } from '../sign-in/session-keeper.ts';

/** What the check of credentials needs. */
export interface AuthenticateDeps {
  secretKey: string | null;
  sessions: SessionKeeper;
  guard: AttemptGuard;
}

const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();

export function authenticate({ secretKey, sessions, guard }: AuthenticateDeps): (request: Request, response: Response, next: NextFunction) => Promise<void> {
  const expected = secretKey === null ? null : digest(secretKey);
  const find = async (token: string, request: Request): Promise<Actor | null> => {
    // Digests have one length, so that the comparison tells nothing of the secret's.
    if (expected !== null && timingSafeEqual(digest(token), expected)) return keyActor;
    if (!isSessionToken(token)) return null;
    const visitor = visitorOf(request);
    const known = await sessions.check(token, visitor);
    if (known) return { actor: known.user.username, username: known.user.username, role: known.user.role, session: known.session };
    await guard.countUnknownToken(visitor.ipAddress);
    return null;
  };
  /** An answer that goes on (a live log) ends when the session does, or when its user has another role. */
  const endWithSession = (response: Response, token: string, session: ConsoleSession, role: ConsoleRole) => {
    const look = async () => {
      // One that has not begun is the answer to the very call that ended the session, or is short.
      if (!response.headersSent || response.writableEnded) return;
      try {
        const known = await sessions.peek(token);
        if (known?.user.role !== role) response.destroy();
      } catch {
        // The database is away: looked at again in a moment.
      }
    };
    response.once(
      'close',
      sessions.watch(session, () => void look()),
    );
  };
  return async (request, response, next) => {
    const token = readBearer(request);
    const actor = token === null ? null : await find(token, request);
    if (!actor) {
      response.set('WWW-Authenticate', 'Bearer realm="console"');
      throw new Problem('unauthorized', 'A valid console token is required.');
    }
    response.locals['actor'] = actor;
    if (actor.session && token !== null) endWithSession(response, token, actor.session, actor.role);
    next();
  };
}

function readBearer(request: Request): string | null {
  // Node joins nothing here: a repeated Authorization header keeps the first only, so the raw list decides whether there is exactly one.
  const count = request.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'authorization').length;
  if (count !== 1) return null;
  return /^Bearer +([\x21-\x7e]+) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;
}
