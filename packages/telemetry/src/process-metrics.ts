/** Gauges of the process: memory, event-loop lag, open handles. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Metrics } from './metrics.ts';

/** Each sample wakes the process: at 10 ms they were most of an idle process's work, 0.6 % of a core. */
const resolutionMs = 50;

let lastResident = 0;

/** Bytes of memory that the process takes; the last known number where its file descriptors are used up, since it is read from a file of the system. */
export function residentBytes(onUnreadable?: (error: unknown) => void): number {
  try {
    lastResident = process.memoryUsage.rss();
  } catch (error) {
    // It is asked for four times a second, and by each reading of the metrics: neither may fail for it.
    onUnreadable?.(error);
  }
  return lastResident;
}

/** Registers the gauges. Lag is measured since the last collection. Returns how to stop measuring. */
export function measureProcess(metrics: Metrics): () => void {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  metrics.gauge('process_resident_memory_bytes', 'Resident set size.', () => residentBytes());
  metrics.gauge('process_heap_used_bytes', 'JavaScript heap in use.', () => getHeapStatistics().used_heap_size);
  metrics.gauge('process_event_loop_lag_p99_seconds', '99th percentile of event-loop delay since the last reading.', () => {
    // What is recorded is the time from look to look.
    const late = delay.percentile(99) / 1e6 - resolutionMs;
    delay.reset();
    return late > 0 ? late / 1000 : 0;
  });
  metrics.gauge('process_open_handles', 'What keeps the event loop alive (sockets, timers, files), by kind.', () => {
    const kinds = new Map<string, number>();
    for (const kind of process.getActiveResourcesInfo()) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    return [...kinds].map(([kind, value]) => ({ labels: { kind }, value }));
  });
  metrics.gauge('process_uptime_seconds', 'Seconds since the process started.', () => process.uptime());
  return () => delay.disable();
}
