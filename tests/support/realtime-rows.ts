/** Rows of realtime sessions in the request log. */
import type { TestGateway } from './gateway.ts';
import { until } from './in-process.ts';

/** Waits for so many of the translator's rows of a requested model; `kind`: `realtime_session` or `realtime_turn`. In the order of the log. */
export const realtimeRows = (gateway: TestGateway, model: string, kind: string, count = 1) =>
  until(async () => {
    const found = (await gateway.rows()).filter((row) => row.requested_model === model && row.kind === kind && row.authority === 2);
    return found.length >= count && found;
  }, `${count} ${kind} of ${model}`);
