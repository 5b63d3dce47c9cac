// Loaded with --import into a server under test: on SIGUSR2 it appends the longest event-loop stall since the last signal (ms) to STALL_FILE.
import { appendFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const resolutionMs = 1;
const delays = monitorEventLoopDelay({ resolution: resolutionMs });
delays.enable();
process.on('SIGUSR2', () => {
  // The histogram counts the sampling interval itself as delay.
  appendFileSync(process.env.STALL_FILE, `${Math.max(0, delays.max / 1e6 - resolutionMs)}\n`);
  delays.reset();
});
