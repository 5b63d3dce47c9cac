/** Equal refusals of one hour as one line: each is a record of its own, and a key that is refused makes many. */
import type { AuditRecord } from '@model-gateway/console/answers';

/** A line of the audit page. */
export interface AuditLine extends AuditRecord {
  /** How many records it stands for; they are alike in who, what and why. */
  count: number;
  /** Time of the first of them; `occurred_at` is that of the last. */
  firstAt: string;
}

const hourMs = 3_600_000;

const textOf = (record: AuditRecord, field: string): string => {
  const value = record.diff?.[field];
  return typeof value === 'string' ? value : '';
};

/** Records of earlier versions stand for several already. */
const countOf = ({ diff }: AuditRecord): number => (typeof diff?.['count'] === 'number' && diff['count'] > 0 ? diff['count'] : 1);

/** The name of the access key that a record of a caller is about. */
export const accessKeyOf = (record: AuditRecord): string | null => textOf(record, 'access_key') || null;

/** `records`: newest first, and so are the lines; a folded line takes the position of its newest record. */
export function foldRecords(records: readonly AuditRecord[]): AuditLine[] {
  const lines = new Map<string, AuditLine>();
  for (const record of records) {
    const hour = Math.floor(Date.parse(record.occurred_at) / hourMs);
    const isRefusal = record.action === 'acl.violation';
    const id = isRefusal
      ? JSON.stringify([hour, record.actor, accessKeyOf(record), record.entity_type, record.entity_id, textOf(record, 'reason')])
      : record.id;
    const known = lines.get(id);
    if (known) {
      known.count += countOf(record);
      known.firstAt = record.occurred_at;
    } else lines.set(id, { ...record, count: isRefusal ? countOf(record) : 1, firstAt: record.occurred_at });
  }
  return [...lines.values()];
}
