/** Connections to one server: each caller's own where the server keeps something for it, closed when nobody used them for a while. */
import type { Peer } from './peer.ts';

/** Whose a connection is. */
export interface PeerUser {
  /** Id of the access key; empty: the gateway's own. */
  owner: string;
  /** The caller's session with the gateway; null: it has none. */
  session: string | null;
  /** JSON text: what the caller can do for the server. */
  capabilities: string;
  /** Whether the caller would rather have a session with a server that offers both: then it can be asked, and can subscribe. */
  prefersSession: boolean;
}

interface Entry {
  peer: Promise<Peer>;
  open: Peer | undefined;
  users: number;
  usedAt: number;
}

const sweepMs = 1000;

export class PeerPool {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;
  /** Connections for which servers keep nothing, by whether a session was preferred. */
  readonly #shared = new Map<boolean, string>();
  #timer: NodeJS.Timeout | undefined;
  idleMs = 300_000;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Runs `work` with the caller's connection, which is opened if there is none. */
  async use<T>(user: PeerUser, open: () => Promise<Peer>, work: (peer: Peer) => Promise<T>): Promise<T> {
    const entry = this.#entryFor(user, open);
    entry.users++;
    try {
      return await work(await entry.peer);
    } finally {
      entry.users--;
      entry.usedAt = this.#now();
    }
  }

  /** The caller's connection, if there is one. */
  find(user: PeerUser): Peer | undefined {
    return this.#entries.get(keyOf(user))?.open;
  }

  /** The session of a caller has ended, or its access key may not be used any more. */
  async drop(matches: (owner: string, session: string | null) => boolean): Promise<void> {
    const gone = [...this.#entries].filter(([key]) => {
      const [owner, session] = JSON.parse(key) as [string, string | null];
      return matches(owner, session);
    });
    await Promise.all(gone.map(([key, entry]) => this.#close(key, entry)));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await Promise.all([...this.#entries].map(([key, entry]) => this.#close(key, entry)));
  }

  #entryFor(user: PeerUser, open: () => Promise<Peer>): Entry {
    const own = keyOf(user);
    const shared = user.capabilities === '{}' ? this.#shared.get(user.prefersSession) : undefined;
    const known = this.#entries.get(own) ?? (shared === undefined ? undefined : this.#entries.get(shared));
    if (known && !isLost(known.open)) return known;
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs).unref();
    const entry: Entry = { peer: open(), open: undefined, users: 0, usedAt: this.#now() };
    this.#entries.set(own, entry);
    entry.peer.then(
      (peer) => {
        entry.open = peer;
        // The server keeps nothing for it: everybody may use it.
        if (!peer.hasState && user.capabilities === '{}') this.#shared.set(user.prefersSession, own);
      },
      () => {
        if (this.#entries.get(own) === entry) this.#entries.delete(own);
      },
    );
    return entry;
  }

  #sweep(): void {
    const now = this.#now();
    for (const [key, entry] of this.#entries)
      if (entry.users === 0 && entry.open && (isLost(entry.open) || now - entry.usedAt > this.idleMs)) void this.#close(key, entry);
    if (this.#entries.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #close(key: string, entry: Entry): Promise<void> {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
    for (const [preferred, shared] of this.#shared) if (shared === key) this.#shared.delete(preferred);
    await entry.peer.then(
      (peer) => peer.close(),
      () => undefined,
    );
  }
}

const isLost = (peer: Peer | undefined): boolean => peer !== undefined && 'lost' in peer && peer.lost === true;
const keyOf = ({ owner, session, capabilities, prefersSession }: PeerUser): string => JSON.stringify([owner, session, capabilities, prefersSession]);
