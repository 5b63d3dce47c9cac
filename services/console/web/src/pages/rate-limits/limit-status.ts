/** The status of the limits as the API gives it. */
export interface Counter {
  name: string;
  used: number;
  limit: number;
  window_secs: number;
  degraded: boolean;
}

/** Use of a concurrency limit. */
export interface Cap {
  used: number;
  limit: number | null;
}

/** Use of the rate limits of an upstream or model. */
export interface Gate {
  name: string;
  limit: { rpm: number | null; tpm: number | null; max_concurrency: number | null; tps_min_interval_ms: number | null };
  used: number;
  waiting: number;
  rpm_left: number | null;
  tpm_left: number | null;
  degraded: boolean;
}

/** Spending of a key or group against its budget. */
export interface Budget {
  kind: 'key' | 'group';
  name: string;
  currency: string;
  period: string;
  limit_micros: number;
  spent_micros: number | null;
  reserved_micros: number;
}

/** The use of all limits, as the API returns it. */
export interface LimitStatus {
  backend: 'memory' | 'redis' | null;
  degraded: boolean;
  global: Cap;
  streams: Cap;
  keys: Counter[];
  ips: Counter[];
  upstreams: Gate[];
  models: Gate[];
  budgets: Budget[];
  processes: { answered: string[]; missing: string[] };
}
