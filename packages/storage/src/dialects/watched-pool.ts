/**
 * A pool that does not stay with connections that have become useless. To a PostgreSQL that is gone without a word (its machine failed, its address went
 * to another server) nobody closes them. One that takes no writes answers on them for ever: it was replaced and follows its successor now, or was
 * read-only when they were opened, which a session keeps. Each would have to be met, and the pool hands out the one that was used last.
 */
import pg from 'pg';

const isSilence = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout';
const isReadOnly = (error: unknown): boolean => (error as { code?: unknown } | undefined)?.code === '25006';

/** Nobody gave a connection back in time. The server is there, so that its address is not what is to be mended. */
export class PoolBusy extends Error {
  readonly code = 'EPOOLBUSY';
}

/** What becomes of a client whose statement failed in a way that its next one would, too. */
interface Faults {
  silent(client: pg.Client): void;
  readOnly(client: pg.Client): void;
}

function createClientClass(faults: Faults): typeof pg.Client {
  class WatchedClient extends pg.Client {
    // biome-ignore lint/suspicious/noExplicitAny: all forms of the call are passed on.
    override query(...args: any[]): any {
      // biome-ignore lint/suspicious/noExplicitAny: as above.
      const result = (super.query as any)(...args);
      if (result instanceof Promise)
        result.catch((error: unknown) => {
          if (isSilence(error)) faults.silent(this);
          else if (isReadOnly(error)) faults.readOnly(this);
        });
      return result;
    }
  }
  return WatchedClient;
}

/** Distinguishes a time-out of a full pool from one of the server. */
class CountingPool extends pg.Pool {
  private inUse = 0;

  constructor(config: pg.PoolConfig) {
    super(config);
    this.on('acquire', () => this.inUse++);
    this.on('release', () => this.inUse--);
  }

  // biome-ignore lint/suspicious/noExplicitAny: all forms of the call are passed on.
  override connect(...args: any[]): any {
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    const client = (super.connect as any)(...args);
    if (!(client instanceof Promise)) return client;
    return client.catch((error: unknown) => {
      const { max } = this.options;
      if (this.inUse < max) throw error;
      throw new PoolBusy(`all ${max} connections are in use: statements take long, or wait for another session's lock`, { cause: error });
    });
  }
}

/**
 * A pool that gives up a connection, and all that are not in use, once the server was silent for `query_timeout` on it or took no write. `onSilence` is
 * called each time it was silent.
 */
export function createWatchedPool(config: pg.PoolConfig, onSilence: () => void): pg.Pool {
  /** Given up when they come back: until then their transaction has to be rolled back. */
  const readOnly = new WeakSet<pg.Client>();
  const end = (client: pg.Client): void => void client.end().catch(() => undefined);
  const giveUpIdle = (): void => {
    for (let left = pool.idleCount; left > 0; left--)
      pool.connect().then(
        (client: pg.PoolClient) => client.release(true),
        () => undefined,
      );
  };
  const Client = createClientClass({
    silent(client) {
      // With a query under way this closes the socket at once, and the pool does not keep it.
      end(client);
      onSilence();
      giveUpIdle();
    },
    readOnly(client) {
      readOnly.add(client);
      giveUpIdle();
    },
  });
  const pool = new CountingPool({ ...config, Client });
  pool.on('release', (_error, client) => {
    // The pool keeps none that is ending.
    if (readOnly.has(client)) end(client);
  });
  return pool;
}
