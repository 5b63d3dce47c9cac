/** The edge's metrics: what came, how it ended, how long it took. Labels hold no caller's text. */
import type { RequestRow } from '@model-gateway/contracts';
import type { Metrics } from '@model-gateway/telemetry';

/** The edge's metrics of requests. */
export interface EdgeMeters {
  finished(row: RequestRow): void;
}

/** What the edge holds just now. */
export interface EdgeGauges {
  requests(): number;
  streams(): number;
  bodyBytes(): number;
  lostRows(): number;
  keptStreams(): number;
  keptStreamBytes(): number;
}

const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

export function createMeters(metrics: Metrics, gauges: EdgeGauges): EdgeMeters {
  const requests = metrics.counter('gateway_requests_total', 'Finished requests by client protocol, status and error code.');
  const seconds = metrics.histogram('gateway_request_seconds', 'Duration of finished requests in seconds.', secondsBuckets);
  const firstByte = metrics.histogram('gateway_first_content_seconds', 'Time to the first content in seconds.', secondsBuckets);
  metrics.gauge('gateway_requests_active', 'Requests under way.', gauges.requests);
  metrics.gauge('gateway_streams_active', 'Streams under way.', gauges.streams);
  metrics.gauge('gateway_request_body_bytes', 'Bytes of request bodies held.', gauges.bodyBytes);
  metrics.gauge('gateway_rows_lost', 'Rows that could not be published to statistics.', gauges.lostRows);
  metrics.gauge('gateway_kept_streams', 'Streams whose events are kept for their callers.', gauges.keptStreams);
  metrics.gauge('gateway_kept_stream_bytes', 'Bytes of events that are kept for callers.', gauges.keptStreamBytes);
  /** The series of each protocol's usual ending, looked up once. */
  const usual = new Map<
    string,
    { served: ReturnType<typeof requests.of>; seconds: ReturnType<typeof seconds.of>; firstByte: ReturnType<typeof firstByte.of> }
  >();
  const usualOf = (protocol: string) => {
    let one = usual.get(protocol);
    if (!one) {
      one = { served: requests.of({ protocol, status: '200', error: '' }), seconds: seconds.of({ protocol }), firstByte: firstByte.of({ protocol }) };
      usual.set(protocol, one);
    }
    return one;
  };
  return {
    finished(row) {
      const protocol = row.client_protocol ?? '';
      const one = usualOf(protocol);
      if (row.status === 200 && row.error_code === null) one.served.add(1);
      else requests.add(1, { protocol, status: String(row.status), error: row.error_code ?? '' });
      one.seconds.record(row.duration_ms / 1000);
      if (row.first_content_ms !== null) one.firstByte.record(row.first_content_ms / 1000);
    },
  };
}
