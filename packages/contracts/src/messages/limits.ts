/** What one process says of its limits; the status gathers these. Figures of shared scopes are the same at all who share them. */

export interface StatePart {
  backend: 'memory' | 'redis';
  /** Redis is lost: limits are kept by this process alone, by its share. */
  degraded: boolean;
  /** Milliseconds since the epoch. */
  degraded_since: number | null;
}

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

export interface TranslatorLimits {
  state: StatePart;
  gates: GatePart[];
}

export interface CounterPart {
  /** Name of the access key, or address. */
  name: string;
  used: number;
  limit: number;
  window_secs: number;
}

export interface BudgetPart {
  kind: 'key' | 'group';
  name: string;
  currency: string;
  period: string;
  /** Millionths of the currency. */
  limit_micros: number;
  spent_micros: number | null;
  reserved_micros: number;
}

export interface EdgeLimits {
  state: StatePart;
  requests: { used: number; limit: number };
  streams: { used: number; limit: number };
  keys: CounterPart[];
  ips: CounterPart[];
  budgets: BudgetPart[];
}
