/** The snapshots that one watcher holds: the current one, and recent ones that requests may be pinned to. */
import type { CatalogRows, EventSubjects, Snapshot } from '@model-gateway/contracts';
import { applyDelta } from '../apply-delta.ts';
import { isSameState } from '../same-state.ts';
import { buildSnapshot } from '../snapshot.ts';
import { createHistory, type HistoryLimits } from './history.ts';

export class HeldSnapshots {
  readonly #history: ReturnType<typeof createHistory>;
  readonly #listeners = new Set<(snapshot: Snapshot) => void>();
  #current: Snapshot | null = null;

  constructor(limits: HistoryLimits) {
    this.#history = createHistory(limits);
  }

  get current(): Snapshot | null {
    return this.#current;
  }

  get(revision: number): Snapshot | undefined {
    return this.#current?.revision === revision ? this.#current : this.#history.get(revision);
  }

  onChange(callback: (snapshot: Snapshot) => void): () => void {
    this.#listeners.add(callback);
    return () => this.#listeners.delete(callback);
  }

  /** Takes in loaded rows. `isNewest`: they were asked for without a revision; `before`: the current snapshot at that time. */
  take(rows: CatalogRows, { isNewest, before }: { isNewest: boolean; before: Snapshot | null }): Snapshot {
    const current = this.#current;
    const state = { revision: rows.revision, committedAt: rows.committed_at };
    if (current !== null && isSameState(current, state)) return current;
    // The console's newest revision is older than ours, or another one of its number, and ours did not arrive in the meantime: the database was restored
    // to an older state and reuses revision numbers, so that the snapshots held under them are no longer valid.
    const setBack = isNewest && current !== null && current === before && rows.revision <= current.revision;
    if (setBack) this.#history.clear();
    const known = this.#history.get(rows.revision);
    const snapshot = known && isSameState(known, state) ? known : buildSnapshot(rows, current);
    this.#history.add(snapshot);
    if (setBack || !current || snapshot.revision > current.revision) this.#adopt(snapshot);
    return snapshot;
  }

  /** Applies a delta that follows on the current revision; false when it does not. Throws when it cannot be applied. */
  follow({ previous, previousCommittedAt, delta, ...state }: EventSubjects['catalog.changed']): boolean {
    const current = this.#current;
    if (!delta || !current || !isSameState(current, { revision: previous, committedAt: previousCommittedAt })) return false;
    if (this.#history.get(state.revision)) return false;
    const snapshot = applyDelta(current, state, delta);
    this.#history.add(snapshot);
    this.#adopt(snapshot);
    return true;
  }

  #adopt(snapshot: Snapshot): void {
    this.#current = snapshot;
    for (const listener of this.#listeners) listener(snapshot);
  }
}
