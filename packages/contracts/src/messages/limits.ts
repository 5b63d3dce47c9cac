/** What one process says of its limits; the status gathers these. Figures of shared scopes are the same at all who share them. */

export interface StatePart {
  /** `process`: in the first process of a gateway with several workers. */
  backend: 'memory' | 'redis' | 'process';
  /** Redis, or that process, is lost: limits are kept by this process alone, by its share. */
  degraded: boolean;
  /** Milliseconds since the epoch. */
  degraded_since: number | null;
}

/** Use of one rate limit at one translator. */
export interface GatePart {
  /** `model:<name>` or `upstream:<name>`. */
  scope: string;
  /** Calls under way, and callers in line, in this process. */
  used: number;
  waiting: number;
  /** Calls and tokens that may pass now; below zero: owed. null: not limited, or never used. */
  rpm_left: number | null;
  tpm_left: number | null;
}

/** The limits of upstreams and models, as one translator sees them. */
export interface TranslatorLimits {
  state: StatePart;
  gates: GatePart[];
}

/** Use of one request limit: of an access key or an address. */
export interface CounterPart {
  /** Name of the access key, or address. */
  name: string;
  used: number;
  limit: number;
  window_secs: number;
}

/** Use of one budget in its present period, in micro-units of its currency. */
export interface BudgetPart {
  kind: 'key' | 'group';
  name: string;
  currency: string;
  period: string;
  /** Millionths of the currency. */
  limit_micros: number;
  spent_micros: number | null;
  reserved_micros: number;
  /** The part of it that tasks of upstreams hold, which all edges know alike. Earlier versions do not say. */
  tasks_micros?: number;
}

/** The limits of callers, as one edge sees them. */
export interface EdgeLimits {
  state: StatePart;
  requests: { used: number; limit: number };
  streams: { used: number; limit: number };
  keys: CounterPart[];
  ips: CounterPart[];
  budgets: BudgetPart[];
}
