/** The snapshots that requests may still be pinned to. */
import type { Snapshot } from '@model-gateway/contracts';

/** Recent snapshots by revision. */
export interface SnapshotHistory {
  get(revision: number): Snapshot | undefined;
  add(snapshot: Snapshot): void;
  clear(): void;
}

/** Bounds of a snapshot history: number of revisions, and age in ms after replacement. */
export interface HistoryLimits {
  revisions: number;
  ageMs: number;
  now: () => number;
}

/** The oldest snapshot is dropped when there are too many, or this long after it was replaced. The newest always stays. */
export function createHistory({ revisions, ageMs, now }: HistoryLimits): SnapshotHistory {
  const kept = new Map<number, { snapshot: Snapshot; supersededAt: number | null }>();
  const evict = () => {
    for (const [revision, { supersededAt }] of kept) {
      if (kept.size > revisions || (supersededAt !== null && now() - supersededAt > ageMs)) kept.delete(revision);
    }
  };
  return {
    get(revision) {
      return kept.get(revision)?.snapshot;
    },
    add(snapshot) {
      for (const entry of kept.values()) entry.supersededAt ??= now();
      kept.delete(snapshot.revision);
      kept.set(snapshot.revision, { snapshot, supersededAt: null });
      evict();
    },
    clear: () => kept.clear(),
  };
}
