/** Lets in who holds the console's secret key. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { Problem } from '../problem.ts';

export interface Actor {
  actor: 'secret_key';
  username: string | null;
  role: 'admin';
}

const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();

/** `secretKey` null: nobody gets in, and the answer names the variable that is missing. */
export function requireBearer(secretKey: string | null): (request: Request, response: Response, next: NextFunction) => void {
  const expected = secretKey === null ? null : digest(secretKey);
  return (request, response, next) => {
    const given = readBearer(request);
    // Digests have one length, so that the comparison tells nothing of the secret's.
    const matches = expected !== null && given !== null && timingSafeEqual(digest(given), expected);
    if (!matches) {
      response.set('WWW-Authenticate', 'Bearer realm="console"');
      const message = expected === null ? 'The console has no credential yet: set CONSOLE_SECRET_KEY.' : 'A valid console token is required.';
      throw new Problem('unauthorized', message);
    }
    response.locals['actor'] = { actor: 'secret_key', username: null, role: 'admin' } satisfies Actor;
    next();
  };
}

function readBearer(request: Request): string | null {
  // Node joins nothing here: a repeated Authorization header keeps the first only, so the raw list decides whether there is exactly one.
  const count = request.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'authorization').length;
  if (count !== 1) return null;
  return /^Bearer +([\x21-\x7e]+) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;
}
