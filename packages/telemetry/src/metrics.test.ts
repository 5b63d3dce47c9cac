import { describe, expect, test } from '@jest/globals';
import { createMetrics, maxSeries } from './metrics.ts';
import { measureProcess } from './process-metrics.ts';

describe('metrics', () => {
  test('counters, histograms and gauges in Prometheus text', async () => {
    const metrics = createMetrics({ service: 'edge' });
    const requests = metrics.counter('requests', 'Requests.');
    requests.add(1, { status: '200', model: 'a"b\n' });
    requests.add(2, { model: 'a"b\n', status: '200' });
    requests.add(-5, { status: '200', model: 'a"b\n' });
    const seconds = metrics.histogram('duration_seconds', 'Time.', [0.1, 1]);
    for (const value of [0.05, 0.1, 0.5, 7]) seconds.record(value, { status: '200' });
    metrics.gauge('open_streams', 'Streams.', () => 4);
    const text = await metrics.text();
    expect(text).toContain('# TYPE requests_total counter');
    expect(text).toContain('requests_total{service="edge",model="a\\"b\\n",status="200"} 3');
    expect(text).toContain('duration_seconds_bucket{service="edge",status="200",le="0.1"} 2');
    expect(text).toContain('duration_seconds_bucket{service="edge",status="200",le="1"} 3');
    expect(text).toContain('duration_seconds_bucket{service="edge",status="200",le="+Inf"} 4');
    expect(text).toContain('duration_seconds_count{service="edge",status="200"} 4');
    expect(text).toContain('open_streams{service="edge"} 4');
    expect(text.endsWith('\n')).toBe(true);
  });

  test('the same name is the same instrument; another kind is refused', () => {
    const metrics = createMetrics({ service: 's' });
    expect(metrics.counter('a', 'A.')).toBe(metrics.counter('a', 'A.'));
    expect(() => metrics.histogram('a', 'A.', [1])).toThrow('already a counter');
  });

  test('label values cannot grow memory without bound', async () => {
    const metrics = createMetrics({ service: 's' });
    const counter = metrics.counter('hits', 'Hits.');
    for (let i = 0; i < maxSeries + 500; i++) counter.add(1, { name: `n${i}` });
    const text = await metrics.text();
    expect(text.match(/^hits_total\{/gm)).toHaveLength(maxSeries + 1);
    expect(text).toContain('name="other"} 500');
  });

  test('a gauge that throws is counted and hides nothing else', async () => {
    const metrics = createMetrics({ service: 's' });
    metrics.counter('fine', 'Fine.').add(1);
    metrics.gauge('broken', 'Broken.', () => {
      throw new Error('no');
    });
    expect(await metrics.text()).toContain('fine_total{service="s"} 1');
    expect(await metrics.text()).toMatch(/metric_collect_errors_total\{service="s"\} \d/);
  });

  test('process gauges', async () => {
    const metrics = createMetrics({ service: 's' });
    const stop = measureProcess(metrics);
    const text = await metrics.text();
    stop();
    expect(text).toMatch(/process_resident_memory_bytes\{service="s"\} [1-9]\d{6,}/);
    expect(text).toContain('process_event_loop_lag_p99_seconds{');
    expect(text).toContain('process_open_handles{service="s",kind="');
  });

  test('recording is cheap', () => {
    const counter = createMetrics({ service: 's' }).counter('c', 'C.');
    for (let i = 0; i < 20_000; i++) counter.add(1, { a: 'x', b: `y${i & 3}`, c: '200' });
    const started = process.cpuUsage();
    for (let i = 0; i < 100_000; i++) counter.add(1, { a: 'x', b: 'y', c: '200' });
    // Measured at 0.2 µs; the bound allows for a busy machine.
    expect(process.cpuUsage(started).user / 100).toBeLessThan(30_000);
  });
});
