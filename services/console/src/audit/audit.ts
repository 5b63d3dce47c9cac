/** The only way to write to the audit log. */
import { type Bus, settlesWithin } from '@model-gateway/bus';
import type { AuditAction, AuditEntityType, AuditRow } from '@model-gateway/contracts';
import type { MintId } from '@model-gateway/service-runtime';
import type { AuditLogs } from '@model-gateway/storage';
import type { Counter, Logger, Metrics } from '@model-gateway/telemetry';
import { boundDiff } from './bound-diff.ts';

/** An audit record without id and time; the time is when it is published. */
export interface AuditRecord {
  /** Console user name, `secret_key`, or `api_key:<mask>`; for a failed sign-in the name that was tried. */
  actor: string;
  action: AuditAction;
  entity_type: AuditEntityType;
  entity_id: string;
  /** The caller masks credentials. Truncated here when it is long. */
  diff?: Readonly<Record<string, unknown>> | undefined;
  ip_address: string | null;
  request_id?: string | undefined;
}

/** Writes audit records; a call resolves when they are stored or published. */
export interface Audit {
  /**
   * Resolves when the records are in the database or, when it fails, in the durable outbox: the recorded change is acknowledged after that.
   * Never rejects and never waits for long: a record that cannot be published is counted (`gateway_audit_lost`) and logged whole.
   */
  (...records: readonly AuditRecord[]): Promise<void>;
  /** For a transaction that commits them with the change. */
  toRows(records: readonly AuditRecord[]): AuditRow[];
  /** For rows that their transaction refused: they go to the statistics, through the outbox on the disk. As above. */
  publish(rows: readonly AuditRow[]): Promise<void>;
}

/** What the audit log is written through. */
export interface AuditDeps {
  bus: Bus;
  logs: Pick<AuditLogs, 'insertRows'>;
  logger: Logger;
  mintId: MintId;
  metrics?: Metrics | undefined;
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** How long the database has for a record, and then the bus, in ms: longer than the outbox needs to write a message to disk. */
  maxWaitMs?: number;
}

const counted: Record<'lost' | 'late', string> = {
  lost: 'Audit records that could not be published; each is in the process log.',
  late: 'Audit records that were still on their way when the change was acknowledged.',
};

export function createAudit({ bus, logs, logger, mintId, metrics, now = Date.now, maxWaitMs = 1_000 }: AuditDeps): Audit {
  const count = (name: keyof typeof counted): Counter | undefined => metrics?.counter(`gateway_audit_${name}`, counted[name]);
  const lost = count('lost');
  const late = count('late');
  // Prometheus sees no increase in a series that begins with its first loss.
  for (const one of [lost, late]) one?.add(0);
  const mint = createIdOrder(mintId);

  const publishOne = async (row: AuditRow): Promise<void> => {
    try {
      await bus.publishDurable('audit.record', row.id, row);
    } catch (error) {
      lost?.add(1);
      logger.error({ error, record: row }, 'audit record could not be published');
    }
  };
  const publish = async (rows: readonly AuditRow[]): Promise<void> => {
    if (await settlesWithin(Promise.all(rows.map(publishOne)), maxWaitMs)) return;
    late?.add(rows.length);
    logger.warn({ records: rows.length }, 'publishing audit records takes long: their changes are acknowledged without waiting');
  };
  /** Resolves to false if the database fails or takes too long. It may still insert the rows later: the same rows arriving through the outbox do no harm. */
  const insert = async (rows: readonly AuditRow[]): Promise<boolean> => {
    const inserted = logs.insertRows(rows).then(
      () => true,
      (error: unknown) => {
        logger.warn({ error, records: rows.length }, 'audit records cannot be stored now: they go through the outbox');
        return false;
      },
    );
    return (await settlesWithin(inserted, maxWaitMs)) && (await inserted);
  };
  const toRows = (records: readonly AuditRecord[]): AuditRow[] => {
    const at = now();
    return records.map((record) => toRow(record, mint(at), at));
  };
  const audit = async (...records: readonly AuditRecord[]): Promise<void> => {
    const rows = toRows(records);
    if (!(await insert(rows))) await publish(rows);
  };
  return Object.assign(audit, { toRows, publish });
}

const toRow = ({ actor, action, entity_type, entity_id, diff, ip_address, request_id }: AuditRecord, id: string, at: number): AuditRow => ({
  id,
  occurred_at: at,
  actor,
  action,
  entity_type,
  entity_id,
  diff: diff === undefined ? null : boundDiff(diff),
  ip_address,
  request_id: request_id ?? null,
});

/** Ids that keep the publication order of records of one millisecond. */
function createIdOrder(mintId: MintId): (at: number) => string {
  let count = 0;
  return (at) => mintId(`aud_${at.toString(36).padStart(9, '0')}${(count++ % 1_679_616).toString(36).padStart(4, '0')}`);
}
