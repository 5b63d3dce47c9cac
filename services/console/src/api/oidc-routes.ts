/** Sign-in through an OpenID provider. The session token never appears in a URL: the browser that began exchanges a single-use code for it. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ConsoleUser } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { AuditRecord } from '../audit/audit.ts';
import { auditOf } from '../audit/audit-of.ts';
import { Problem } from '../problem.ts';
import { visitorOf } from '../sign-in/actor.ts';
import { keptMs, type Oidc } from '../sign-in/oidc.ts';
import { type Claims, identityOf, mapsRoles, type OidcConfig, OidcRefusal, usernameOf } from '../sign-in/oidc-identity.ts';
import type { SignIn } from '../sign-in/sign-in.ts';
import { readInput } from '../validation/read-input.ts';
import { signedIn } from './answers/account.ts';
import { isoTime } from './answers/iso-time.ts';
import { base, type Route } from './route.ts';

const tag = 'session';
const cookieName = 'gateway_sign_in';
const cookiePath = `${base}/oidc`;
const codeMs = 60_000;
const exchangeBody = z.strictObject({ code: z.string().max(100) });

interface Deps {
  oidc: Oidc;
  settings: OidcConfig;
  logger: Logger;
}

/** Whom the provider vouches for. */
interface Identity {
  issuer: string;
  subject: string;
}

interface Admitted {
  user: ConsoleUser;
  /** What the sign-in changed of the user. */
  change: Pick<AuditRecord, 'action' | 'diff'> | null;
}

/** The routes that a browser takes to the OpenID provider and back. */
export function oidcRoutes(signIn: SignIn, deps: Deps): Route[] {
  const { oidc, settings, logger } = deps;
  const { store, sessions, audit, now } = signIn;

  /** Every fault ends on the sign-in page, by a word that the page knows. */
  const reportFaults = async (response: Response, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof OidcRefusal)) throw error;
      logger.warn({ fault: error.fault, reason: error.message }, 'a sign-in at the OpenID provider failed');
      response.redirect(303, `/console/#sign_in_fault=${error.fault}`);
    }
  };
  const keep = (response: Response, value: string, { secure, ms }: { secure: boolean; ms: number }) =>
    response.cookie(cookieName, value, { httpOnly: true, sameSite: 'lax', secure, path: cookiePath, maxAge: ms });

  const start = (_request: Request, response: Response) =>
    reportFaults(response, async () => {
      const { url, kept, secure } = await oidc.start();
      keep(response, kept, { secure, ms: keptMs });
      response.redirect(303, url);
    });

  const callback = (request: Request, response: Response) =>
    reportFaults(response, async () => {
      const query = request.originalUrl.split('?')[1] ?? '';
      const { issuer, subject, claims } = await oidc.finish(query, readCookie(request));
      const { user, change } = await admit(signIn, deps, { issuer, subject }, claims).catch(async (error: unknown) => {
        await recordFailure(signIn, request, { issuer, subject, claims, error });
        throw error;
      });
      if (change) await audit({ ...auditOf(request, user.username), ...change, entity_type: 'console_user', entity_id: user.username });
      const [code, binding] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')];
      await store.sessions.insertCode({ codeHash: hashOf(code, binding), userId: user.id, expiresAt: now() + codeMs });
      // Of this browser: a code that is slipped to somebody else opens nothing.
      keep(response, binding, { secure: settings.redirectUrl?.startsWith('https:') ?? false, ms: codeMs });
      // What follows # is not sent to any server, so no log holds it.
      response.redirect(303, `/console/#sign_in_code=${code}`);
    });

  const exchange = async (request: Request, response: Response) => {
    const { code } = readInput(exchangeBody, request.body);
    const visitor = visitorOf(request);
    const user = await store.sessions.takeCode(hashOf(code, readCookie(request) ?? ''), now());
    const opened = user && (await sessions.open(user, visitor));
    response.clearCookie(cookieName, { path: cookiePath });
    if (!user || !opened) throw new Problem('login_failed', 'This sign-in has expired: begin again.');
    sessions.announce(user.id);
    await store.users.touch(user.id, { lastLoginAt: now() });
    await audit({ ...auditOf(request, user.username), action: 'login.success', entity_type: 'console_user', entity_id: user.username });
    const { token, session } = opened;
    response.json({ token, expires_at: isoTime(session.expiresAt), user: { username: user.username, role: user.role } });
  };

  return [
    {
      method: 'get',
      path: `${base}/oidc/start`,
      operationId: 'start_oidc',
      summary: 'Go to the OpenID provider (for browsers)',
      tag,
      status: 303,
      handle: start,
    },
    {
      method: 'get',
      path: `${base}/oidc/callback`,
      operationId: 'finish_oidc',
      summary: 'Come back from it (for browsers)',
      tag,
      status: 303,
      handle: callback,
    },
    {
      method: 'post',
      path: `${base}/oidc/exchange`,
      operationId: 'exchange_oidc_code',
      summary: 'The code that stands behind # after coming back, for a session',
      tag,
      body: exchangeBody,
      status: 200,
      answer: signedIn,
      handle: exchange,
    },
  ];
}

/** The user who belongs to this identity, made on the first sign-in; the role follows the provider where roles are mapped. */
async function admit({ store }: SignIn, { settings, logger }: Deps, identity: Identity, claims: Claims): Promise<Admitted> {
  const { username, role, email, oidcValues } = identityOf(claims, settings);
  return store.changeUsers(async (writer) => {
    const known = await writer.findByIdentity(identity.issuer, identity.subject);
    if (!known) {
      // Names are the provider's to give: one that is taken here could be somebody else's.
      const other = await writer.find(username);
      if (other)
        throw new OidcRefusal('taken', `a user ${username} exists here who ${wayOf(other, identity)}: delete that user, or let the provider give another name`);
      const user = await writer.insert({ id: randomUUID(), username, role, enabled: true, passwordHash: null, identity, email, oidcValues });
      return { user, change: { action: 'create', diff: { role, identity: identity.issuer } } };
    }
    if (!known.enabled) throw new OidcRefusal('disabled', 'the user is disabled');
    const isLast = known.role === 'admin' && role !== 'admin' && (await writer.countOtherAdmins(known.id)) === 0;
    const changesRole = mapsRoles(settings) && known.role !== role;
    if (changesRole && isLast) logger.warn({ username: known.username }, 'the last admin keeps the role, against what the OpenID provider says');
    const newRole = changesRole && !isLast;
    const facts = known.email === email && isDeepStrictEqual(known.oidcValues, oidcValues) ? {} : { email, oidcValues };
    if (!newRole && Object.keys(facts).length === 0) return { user: known, change: null };
    if (newRole) await writer.endSessions(known.id);
    const user = await writer.update(known, { ...facts, ...(newRole && { role }) });
    return { user, change: newRole ? { action: 'update', diff: { role: { from: known.role, to: role } } } : null };
  });
}

/** Somebody whom the provider vouches for, and who is not let in. */
interface Failure extends Identity {
  claims: Claims;
  error: unknown;
}

async function recordFailure(signIn: SignIn, request: Request, { issuer, subject, claims, error }: Failure): Promise<void> {
  const name = `${issuer} ${subject}`.slice(0, 128);
  // Many providers' subjects tell nobody who that is.
  const diff = { username: usernameOf(claims), ...(error instanceof OidcRefusal && { reason: error.message }) };
  await signIn.audit({ ...auditOf(request, name), action: 'login.failure', entity_type: 'console_user', entity_id: name, diff });
  if (error instanceof OidcRefusal && error.fault === 'refused') await endSessions(signIn, request, { issuer, subject });
}

/** Whom the provider lets in no more is not let in anywhere any more. */
async function endSessions({ store, sessions, audit }: SignIn, request: Request, { issuer, subject }: Identity): Promise<void> {
  const user = await store.changeUsers(async (writer) => {
    const known = await writer.findByIdentity(issuer, subject);
    if (known) await writer.endSessions(known.id);
    return known;
  });
  if (!user) return;
  sessions.announce(user.id);
  await audit({ ...auditOf(request, user.username), action: 'sessions.revoke_all', entity_type: 'console_session', entity_id: user.username });
}

/** How somebody signs in whose name another one has at the provider. */
function wayOf({ identity }: ConsoleUser, { issuer }: Identity): string {
  if (identity === null) return 'signs in with a password';
  return identity.issuer === issuer ? 'is another account at this provider' : `signs in at ${identity.issuer}`;
}

const hashOf = (code: string, binding: string): string => createHash('sha256').update(`${code}.${binding}`, 'utf8').digest('hex');

function readCookie(request: Request): string | undefined {
  for (const part of (request.get('cookie') ?? '').split(';')) {
    const [name, value] = part.trim().split('=', 2);
    if (name === cookieName && value !== undefined) return decoded(value);
  }
  return undefined;
}

/** A cookie is anybody's who can set one on this host. */
function decoded(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}
