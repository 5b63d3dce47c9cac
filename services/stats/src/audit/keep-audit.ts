/** Keeps the audit log: durable news in, committed rows out. */
import type { Bus, Disposable } from '@model-gateway/bus';
import { type AuditRow, toldAuditRow } from '@model-gateway/contracts';
import type { Storage } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';
import { commitAll, judge, toBadItem } from '../dead-letters/commit-all.ts';
import { momentFault, readItems } from '../dead-letters/read-item.ts';
import type { SetAside } from '../dead-letters/set-aside.ts';

/** Who changed the configuration waits for its record: a batch barely waits for company. */
const batching = { maxBatch: 200, maxWaitMs: 2 };

export interface AuditKeeperDeps {
  bus: Bus;
  storage: Storage;
  logger: Logger;
  setAside: SetAside;
  /** Milliseconds since the epoch. */
  now: () => number;
}

export function keepAudit({ bus, storage, logger, setAside, now }: AuditKeeperDeps): Disposable {
  let failing = false;
  const faultOf = (row: AuditRow): string | null => momentFault('occurred_at', row.occurred_at, now()) ?? diffFault(row);
  return bus.listenDurably(
    'audit.record',
    async (batch) => {
      try {
        const { good, bad } = readItems(batch, toldAuditRow, faultOf);
        const { givenUp, again } = judge(await commitAll(good, (some) => storage.audit.insertRows(some.map(({ value }) => value))));
        await setAside('audit.record', [...bad, ...givenUp.map(toBadItem)]);
        if (again !== undefined) throw again;
        failing = false;
      } catch (error) {
        if (!failing) logger.error({ error, records: batch.length }, 'audit records cannot be stored, they are delivered again');
        failing = true;
        throw error;
      }
    },
    batching,
  );
}

/** Whoever tells a record cuts it far below this. */
const longestDiff = 256 * 1024;

/** It is kept as JSON: nested too deep it cannot be written as such. */
function diffFault({ diff }: AuditRow): string | null {
  if (diff === null) return null;
  try {
    return JSON.stringify(diff).length > longestDiff ? 'diff: is too long' : null;
  } catch {
    return 'diff: is no JSON';
  }
}
