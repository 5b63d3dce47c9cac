/** Sessions: made at sign-in, checked at every call from a short memory, ended everywhere within a second. */

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Bus, Disposable } from '@model-gateway/bus';
import type { ConsoleSession, ConsoleStore, ConsoleUser } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';
import { LRUCache } from 'lru-cache';

/** Where a session is used from, shown in the list of sessions. */
export interface Visitor {
  /** As the edge gives it. */
  ipAddress: string;
  userAgent: string;
}

/** A valid session with its user. */
export interface Known {
  session: ConsoleSession;
  user: ConsoleUser;
}

/** Opens and checks sessions, with a short cache in front of the database. */
export interface SessionKeeper {
  /** A new session and its token, which is shown this once; null when the user was changed since it was read. */
  open(user: ConsoleUser, visitor: Visitor): Promise<{ token: string; session: ConsoleSession } | null>;
  /** null: no such session, its time is over, or its user is disabled. Slides the end; writes at most once a minute. */
  check(token: string, visitor: Visitor): Promise<Known | null>;
  /** Tells every replica that sessions of this user ended or that the user changed. */
  announce(userId: string): void;
  /** As `check`, but no use of the session: its end stays where it is. */
  peek(token: string): Promise<Known | null>;
  /** Runs `callback` whenever the session may have ended; gives what stops that. For answers that go on for long. */
  watch(session: ConsoleSession, callback: () => void): () => void;
  start(): void;
  stop(): Promise<void>;
}

export interface KeeperOptions {
  store: ConsoleStore;
  bus: Bus;
  logger: Logger;
  now: () => number;
  /** Longest life of a session, in ms. */
  sessionMaxMs: number;
}

const idleMs = 24 * 3_600_000;
const slideMs = 60_000;
/** Events may be lost: a cached session is never older than this. */
const memoryMs = 800;
const maxRemembered = 10_000;
const sweepMs = 600_000;
/** Long-running answers check their session this often, also without an event. */
const watchMs = 5_000;

const tokenForm = /^gs-[A-Za-z0-9_-]{43}$/;
export const isSessionToken = (text: string): boolean => tokenForm.test(text);
export const hashToken = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** Headers are the caller's: shown as text, cut to what identifies a browser. */
const clip = (text: string, max: number): string => text.slice(0, max);

export function createSessionKeeper({ store, bus, logger, now, sessionMaxMs }: KeeperOptions): SessionKeeper {
  const remembered = new LRUCache<string, { known: Known; at: number }>({ max: maxRemembered });
  const watchers = new Set<{ userId: string; callback: () => void }>();
  const slid = new LRUCache<string, number>({ max: maxRemembered });
  let event: Disposable | undefined;
  let sweep: NodeJS.Timeout | undefined;
  let patrol: NodeJS.Timeout | undefined;

  const forget = (userId: string) => {
    for (const [hash, { known }] of remembered) if (known.user.id === userId) remembered.delete(hash);
    for (const watcher of watchers) if (watcher.userId === userId) watcher.callback();
  };
  const look = async (hash: string): Promise<Known | null> => {
    const entry = remembered.get(hash);
    if (entry && now() - entry.at < memoryMs && now() >= entry.at) return entry.known;
    remembered.delete(hash);
    const found = await store.sessions.find(hash, now());
    if (!found?.user.enabled) return null;
    remembered.set(hash, { known: found, at: now() });
    return found;
  };
  const peek = async (token: string): Promise<Known | null> => {
    if (!isSessionToken(token)) return null;
    const known = await look(hashToken(token));
    return known !== null && known.session.expiresAt > now() && known.session.endsAt > now() ? known : null;
  };
  /** The session as this call leaves it. It is written at most once a minute: so much earlier it may end where nobody has seen this call. */
  const slide = ({ session }: Known, { ipAddress, userAgent }: Visitor): ConsoleSession => {
    const at = now();
    const moved = { lastSeenAt: at, expiresAt: Math.min(at + idleMs, session.endsAt) };
    const last = Math.max(session.lastSeenAt, slid.get(session.id) ?? 0);
    if (at - last >= slideMs) {
      slid.set(session.id, at);
      // The call does not wait for it: a lost one is made up by the next.
      const seen = { ...moved, ipAddress, userAgent: clip(userAgent, 300) };
      store.sessions.slide(session.id, seen).catch((error: unknown) => logger.warn({ error }, 'the end of a console session could not be moved'));
    }
    return { ...session, ...moved };
  };

  return {
    async open(user, { ipAddress, userAgent }) {
      const token = `gs-${randomBytes(32).toString('base64url')}`;
      const at = now();
      const endsAt = at + sessionMaxMs;
      const times = { createdAt: at, lastSeenAt: at, expiresAt: Math.min(at + idleMs, endsAt), endsAt };
      const session = { id: randomUUID(), userId: user.id, ...times, ipAddress: clip(ipAddress, 100), userAgent: clip(userAgent, 300) };
      return store.changeUsers(async (writer) => {
        const fresh = await writer.find(user.username);
        if (!fresh?.enabled || fresh.id !== user.id || fresh.etag !== user.etag) return null;
        await writer.insertSession({ ...session, tokenHash: hashToken(token) });
        return { token, session };
      });
    },
    async check(token, visitor) {
      const known = await peek(token);
      return known && { user: known.user, session: slide(known, visitor) };
    },
    peek,
    announce(userId) {
      forget(userId);
      bus.publish('console.user-changed', { userId });
    },
    watch({ userId }, callback) {
      const watcher = { userId, callback };
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    start() {
      event = bus.listen('console.user-changed', ({ userId }) => forget(userId));
      sweep = setInterval(() => {
        store.sessions.removeExpired(now()).catch((error: unknown) => logger.warn({ error }, 'ended console sessions could not be removed'));
      }, sweepMs).unref();
      patrol = setInterval(() => {
        for (const { callback } of watchers) callback();
      }, watchMs).unref();
    },
    async stop() {
      clearInterval(sweep);
      clearInterval(patrol);
      await event?.dispose();
    },
  };
}
