/** The lifecycle that every service implements. */
export interface Service {
  name: string;
  /** Starts serving on the bus. Rejects when it never can; a dependency that is only unavailable is waited for, and `health` reports it. */
  start(): Promise<void>;
  /**
   * Called when shutdown begins, before `stop`: everything is still served, but clients are asked to reconnect elsewhere (edge: `Connection: close`).
   * Must not throw.
   */
  drain?(): void;
  /** Shuts down gracefully: no new work, accepted work finishes, everything is released. */
  stop(): Promise<void>;
  health(): Health;
}

/** Whether a service can do its work now, as `/readyz` reports it. */
export interface Health {
  ready: boolean;
  /** Why not, one short word each (`bus`, `catalog`, `storage`, `draining`). */
  reasons: string[];
  /** What is degraded without keeping the service from serving. */
  notes?: string[];
}
