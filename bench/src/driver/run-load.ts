/** One closed-loop load against one address: C connections, each sending the next request when the last one ended. */
import { performance } from 'node:perf_hooks';
import { Connection, type Exchange } from './connection.ts';
import { cpuByThread, cpuDifference, processTree, residentKib } from './processes.ts';

export interface LoadRequest {
  headers: Record<string, string>;
  body: Buffer;
}

export interface LoadOptions {
  url: string;
  /** Sent in turn. */
  requests: readonly LoadRequest[];
  stream: boolean;
  connections: number;
  /** Seconds before the measured window, and of it. */
  warmup: number;
  duration: number;
  /** The processes of the server under test. */
  pids: readonly number[];
  /** Those of the mock upstream. */
  mockPids?: readonly number[];
  /** Called when the measured window begins. */
  onWindow?(): void;
}

/** Times in ms; CPU in µs of all the server's processes together per completed request. */
export interface LoadResult {
  requests: number;
  rps: number;
  p50: number;
  p99: number;
  ttfb50: number;
  ttfb99: number;
  /** To the first word of a stream. */
  content50: number;
  gap99: number;
  /** Arrivals of body bytes per reply. */
  reads: number;
  cpu: number;
  cores: number;
  rssMib: number;
  /** Share of the window in which the driver's own event loop was busy: above 0.8 the driver is the limit. */
  driverBusy: number;
  /** Cores that the mock took: near 1 it is the limit. */
  mockCores: number;
  errors: Record<string, number>;
}

export type Metric = Exclude<keyof LoadResult, 'errors'>;

const properEnd = /\[DONE\]|message_stop|response\.completed|finishReason/;
const maxGaps = 400_000;
const settleMs = 1500;

export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const url = new URL(options.url);
  const latencies: number[] = [];
  const firstBytes: number[] = [];
  const firstContents: number[] = [];
  const gaps: number[] = [];
  const errors: Record<string, number> = {};
  let phase: 'warm' | 'measure' | 'stop' = 'warm';
  let inFlight = 0;
  let arrivals = 0;

  const wires = options.requests.map((request) => wireOf(url, request, options.stream));
  let sent = 0;
  const wire = (): Buffer => wires[sent++ % wires.length]!;
  const fault = (exchange: Exchange): string | null => {
    if (exchange.status < 200 || exchange.status > 299) return `http ${exchange.status}`;
    if (exchange.bytes === 0) return 'empty';
    return options.stream && !properEnd.test(exchange.tail?.subarray(-1500).toString('latin1') ?? '') ? 'truncated' : null;
  };
  const count = (code: string): void => {
    if (phase === 'measure') errors[code] = (errors[code] ?? 0) + 1;
  };
  const next = (connection: Connection): void => {
    if (phase === 'stop') return;
    inFlight++;
    connection.send();
  };
  const connections = Array.from(
    { length: options.connections },
    () =>
      new Connection({
        host: url.hostname,
        port: Number(url.port),
        wire,
        stream: options.stream,
        onGap: (ms) => phase === 'measure' && gaps.length < maxGaps && gaps.push(ms),
        onDone(connection, exchange, now) {
          inFlight--;
          const code = fault(exchange);
          if (code !== null) count(code);
          else if (phase === 'measure') {
            latencies.push(now - exchange.sentAt);
            firstBytes.push(exchange.firstByteAt - exchange.sentAt);
            if (exchange.firstContentAt > 0) firstContents.push(exchange.firstContentAt - exchange.sentAt);
            arrivals += exchange.arrivals;
          }
          next(connection);
        },
        onFailed(connection, code) {
          inFlight--;
          count(code);
          setTimeout(next, 5, connection);
        },
      }),
  );
  for (const connection of connections) next(connection);
  await pause(options.warmup * 1000);

  options.onWindow?.();
  phase = 'measure';
  const pids = processTree(options.pids);
  let rss = 0;
  const sampler = setInterval(() => {
    rss = Math.max(rss, residentKib(pids));
  }, 250);
  const cpuBefore = cpuByThread(pids);
  const mockBefore = cpuByThread(options.mockPids ?? []);
  const busyBefore = performance.eventLoopUtilization();
  const from = performance.now();
  await pause(options.duration * 1000);
  const ms = performance.now() - from;
  phase = 'stop';
  const cpu = cpuDifference(cpuBefore, cpuByThread(pids));
  const mockCpu = cpuDifference(mockBefore, cpuByThread(options.mockPids ?? []));
  const busy = performance.eventLoopUtilization(busyBefore).utilization;
  clearInterval(sampler);
  rss = Math.max(rss, residentKib(pids));

  // Requests under way end first, so that the next target does not meet this one's leftovers.
  for (const until = performance.now() + settleMs; inFlight > 0 && performance.now() < until; ) await pause(10);
  for (const connection of connections) connection.destroy();
  const requests = latencies.length;
  // Of nothing there is no cost per request: such a repetition counts as 0 rps alone.
  const each = requests === 0 ? Number.NaN : requests;
  return {
    requests,
    rps: (requests / ms) * 1000,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    ttfb50: quantile(firstBytes, 0.5),
    ttfb99: quantile(firstBytes, 0.99),
    content50: quantile(firstContents, 0.5),
    gap99: quantile(gaps, 0.99),
    reads: arrivals / each,
    cpu: cpu / 1000 / each,
    cores: cpu / 1e6 / ms,
    rssMib: rss / 1024,
    driverBusy: busy,
    mockCores: mockCpu / 1e6 / ms,
    errors,
  };
}

/** Head and body as they are sent. */
export function wireOf(url: URL, { headers, body }: LoadRequest, stream: boolean): Buffer {
  const all = {
    host: url.host,
    'content-type': 'application/json',
    accept: stream ? 'text/event-stream' : 'application/json',
    ...headers,
    'content-length': String(body.length),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`POST ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n`), body]);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
