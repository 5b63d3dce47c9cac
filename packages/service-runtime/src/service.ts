/** One room with a door on the bus. */
export interface Service {
  name: string;
  /** Takes its place: opens its doors. Rejects when it never can; a dependency that is only away is waited for, with `health` saying so. */
  start(): Promise<void>;
  /** Told when the process begins to leave, before `stop`: still serves everything, but says so (edge: `Connection: close`). Must not throw. */
  drain?(): void;
  /** Leaves in good order: no new work, what was accepted ends, everything is released. */
  stop(): Promise<void>;
  health(): Health;
}

export interface Health {
  ready: boolean;
  /** Why not, one short word each (`bus`, `catalog`, `storage`, `draining`). */
  reasons: string[];
  /** What works less well than it should and does not keep it from serving. */
  notes?: string[];
}
