/** Asks the console whether there are scripts at all, until there are: of the configuration, a script runner knows nothing else. */
import type { Bus } from '@model-gateway/bus';

export interface ScriptWatchOptions {
  /** Between two questions, in ms. */
  pollMs?: number;
  /** Called once, when there is a first script. */
  onFirst(): void;
}

const askMs = 2_000;

/**
 * Returns a function that ends it. A console that is away, or of a version that does not know the subject, only costs the first run its wait for a
 * process: nothing is logged.
 */
export function watchScripts(bus: Bus, { pollMs = 2_000, onFirst }: ScriptWatchOptions): () => void {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const poll = async (): Promise<void> => {
    const { scripts } = await bus.ask('catalog.scripts', {}, { deadlineMs: askMs }).catch(() => ({ scripts: 0 }));
    if (stopped) return;
    if (scripts > 0) return onFirst();
    timer = setTimeout(() => void poll(), pollMs);
    timer.unref();
  };
  void poll();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
