import { afterEach, expect, jest, test } from '@jest/globals';
import { createMetrics } from './metrics.ts';
import { measureProcess, residentBytes } from './process-metrics.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

const outOfDescriptors = (): never => {
  throw Object.assign(new Error('EMFILE: too many open files, uv_resident_set_memory'), { code: 'EMFILE' });
};

test('a process whose file descriptors are used up gives the last known memory, and all of its metrics', async () => {
  const metrics = createMetrics({ service: 'test' });
  const stop = measureProcess(metrics);
  const before = residentBytes();
  expect(before).toBeGreaterThan(0);
  jest.spyOn(process.memoryUsage, 'rss').mockImplementation(outOfDescriptors);
  jest.spyOn(process, 'memoryUsage').mockImplementation(Object.assign(outOfDescriptors, { rss: outOfDescriptors }) as never);
  expect(residentBytes()).toBe(before);
  const text = await metrics.text();
  stop();
  expect(text).toMatch(new RegExp(`^process_resident_memory_bytes(\\{[^}]*\\})? ${before}$`, 'm'));
  expect(text).toMatch(/^process_heap_used_bytes(\{[^}]*\})? [1-9]/m);
});
