/** Who looks on at finished requests: says so on the bus while there is anybody, and hands each row to all. */
import type { Bus, Disposable } from '@model-gateway/bus';
import type { RequestRow } from '@model-gateway/contracts';
import { Problem } from '../problem.ts';

/** One open live log stream. */
export interface Viewer {
  rows(rows: readonly RequestRow[], dropped: number): void;
  /** The console stops. */
  end(): void;
}

/** Distributes finished requests to the open live log streams. */
export interface LiveLog {
  /** Gives how to leave. Throws 503 when there are too many. */
  join(viewer: Viewer): () => void;
  stop(): Promise<void>;
}

const renewMs = 5_000;
const maxViewers = 50;

export function createLiveLog(bus: Bus): LiveLog {
  const viewers = new Set<Viewer>();
  let listening: Disposable | undefined;
  let timer: NodeJS.Timeout | undefined;
  const watch = (): void => bus.publish('logs.watch', {});
  const rest = async (): Promise<void> => {
    clearInterval(timer);
    const ended = listening;
    listening = undefined;
    await ended?.dispose();
  };
  return {
    join(viewer) {
      if (viewers.size >= maxViewers) throw new Problem('overloaded', 'Too many viewers follow the log already.');
      viewers.add(viewer);
      if (!listening) {
        listening = bus.listen('logs.rows', ({ rows, dropped }) => {
          for (const one of viewers) one.rows(rows, dropped);
        });
        timer = setInterval(watch, renewMs);
        timer.unref();
      }
      // Also for one more: the services that tell may have started since.
      watch();
      return () => {
        if (viewers.delete(viewer) && viewers.size === 0) void rest();
      };
    },
    async stop() {
      for (const viewer of [...viewers]) viewer.end();
      viewers.clear();
      await rest();
    },
  };
}
