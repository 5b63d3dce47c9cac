/**
 * Connections to a PostgreSQL that is gone without a word: its machine failed, its address went to another server. Nobody closes them, so that each would
 * have to be waited for, and the pool hands out the one that was used last.
 */
import pg from 'pg';

const isSilence = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout';

/** A client that ends itself when the server was silent for `query_timeout`, and calls `onSilence`. */
function createClientClass(onSilence: () => void): typeof pg.Client {
  class WatchedClient extends pg.Client {
    // biome-ignore lint/suspicious/noExplicitAny: all forms of the call are passed on.
    override query(...args: any[]): any {
      // biome-ignore lint/suspicious/noExplicitAny: as above.
      const result = (super.query as any)(...args);
      if (result instanceof Promise)
        result.catch((error: unknown) => {
          if (!isSilence(error)) return;
          // With a query under way this closes the socket at once, and the pool does not keep it.
          this.end().catch(() => undefined);
          onSilence();
        });
      return result;
    }
  }
  return WatchedClient;
}

/** A pool that gives up all connections that are not in use once the server was silent on one. `onSilence` is called each time. */
export function createWatchedPool(config: pg.PoolConfig, onSilence: () => void): pg.Pool {
  const Client = createClientClass(() => {
    onSilence();
    for (let left = pool.idleCount; left > 0; left--)
      pool.connect().then(
        (client) => client.release(true),
        () => undefined,
      );
  });
  const pool = new pg.Pool({ ...config, Client });
  return pool;
}
