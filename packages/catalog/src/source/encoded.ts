/** The configuration as JSON bytes, read and printed once per revision however many services ask for it. */
import type { CatalogRows, CatalogState } from '@model-gateway/contracts';
import type { Storage } from '@model-gateway/storage';
import { redactRows } from '../redact.ts';
import { isSameState } from '../same-state.ts';
import { earlierRows } from './earlier-rows.ts';

/** One revision of the configuration as JSON bytes, ready to send. */
export interface Encoded extends CatalogState {
  bytes: Uint8Array;
  /** How many scripts its upstreams and models have. */
  scripts: number;
  /** The same without secrets, printed when somebody first asks for it. */
  redacted(): Uint8Array;
}

/** Cache of encoded revisions; loads from the database on a miss. */
export interface EncodedCatalog {
  /** The newest revision. */
  newest(): Promise<Encoded>;
  /** This revision, when it was asked for a short while ago or lies a little back; else the newest. */
  near(revision: number): Promise<Encoded>;
}

const print = (rows: CatalogRows): Uint8Array => new TextEncoder().encode(JSON.stringify(rows));
const read = (bytes: Uint8Array): CatalogRows => JSON.parse(new TextDecoder().decode(bytes)) as CatalogRows;

function countScripts({ upstreams, models }: CatalogRows): number {
  let scripts = 0;
  for (const records of [upstreams, models])
    for (const { request_transform_before, request_transform_after, response_transform } of records)
      for (const script of [request_transform_before, request_transform_after, response_transform]) if (script) scripts++;
  return scripts;
}

function encode(rows: CatalogRows): Encoded {
  const bytes = print(rows);
  let redacted: Uint8Array | undefined;
  return {
    revision: rows.revision,
    committedAt: rows.committed_at,
    bytes,
    scripts: countScripts(rows),
    redacted() {
      // Parsed from the bytes, so that the rows are not held a second time in memory.
      redacted ??= print(redactRows(read(bytes)));
      return redacted;
    },
  };
}

/** Services may still ask for an older revision that another one uses: it is kept for this long, within this much memory. */
const keptMs = 60_000;
const keptBytes = 64 * 1024 * 1024;
const keptRevisions = 16;
/** Maximum number of commits to undo for an older revision. */
const maxPending = 100;

export function createEncodedCatalog(storage: Storage, now: () => number = () => performance.now()): EncodedCatalog {
  const kept = new Map<number, Encoded & { at: number }>();
  let loading: Promise<Encoded> | undefined;

  const evict = () => {
    let bytes = 0;
    for (const [count, entry] of [...kept.values()].reverse().entries()) {
      // Its redacted form is about as long.
      bytes += 2 * entry.bytes.byteLength;
      // The newest always stays.
      if (count > 0 && (count >= keptRevisions || bytes > keptBytes || now() - entry.at > keptMs)) kept.delete(entry.revision);
    }
  };
  const load = async (): Promise<Encoded> => {
    const rows = await storage.catalog.load();
    const entry = Object.assign(encode(rows), { at: now() });
    // A database restored to an older state reuses revision numbers: everything cached is invalid.
    if ([...kept.values()].some((known) => known.revision >= entry.revision && !isSameState(known, entry))) kept.clear();
    kept.delete(entry.revision);
    kept.set(entry.revision, entry);
    evict();
    return entry;
  };
  const newest = async (): Promise<Encoded> => {
    const state = await storage.catalog.state();
    const known = kept.get(state.revision);
    if (known && isSameState(known, state) && state.revision === Math.max(...kept.keys())) return known;
    loading ??= load().finally(() => {
      loading = undefined;
    });
    const loaded = await loading;
    // A load that began before this question may be older than the answer.
    return loaded.revision > state.revision || isSameState(loaded, state) ? loaded : load();
  };
  return {
    newest,
    async near(revision) {
      evict();
      const known = kept.get(revision);
      if (known) return known;
      const present = await newest();
      if (revision >= present.revision || present.revision - revision > maxPending) return present;
      // This revision was never loaded here, but a service that follows the change events has it and pins requests to it.
      const changes = await storage.history.between(revision, present.revision);
      if (!changes) return present;
      const commit = await storage.history.find(revision);
      return encode(earlierRows(read(present.bytes), { revision, committedAt: commit?.occurred_at }, changes));
    },
  };
}
