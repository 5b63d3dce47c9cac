/** Stores the audit log: consumes durable messages and commits rows. */
import type { Bus, Disposable, EventItem } from '@model-gateway/bus';
import { type AuditRow, auditLogMessage } from '@model-gateway/contracts';
import type { Storage } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';
import { commitAll, judge, toBadItem } from '../dead-letters/commit-all.ts';
import { momentFault, readItems } from '../dead-letters/read-item.ts';
import type { SetAside } from '../dead-letters/set-aside.ts';
import { storeAgain } from '../dead-letters/store-again.ts';

/** Who changed the configuration waits for its record: a batch barely waits for company. */
const batching = { maxBatch: 200, maxWaitMs: 2 };

/** What storing audit records needs. */
export interface AuditKeeperDeps {
  bus: Bus;
  storage: Storage;
  logger: Logger;
  setAside: SetAside;
  /** Milliseconds since the epoch. */
  now: () => number;
}

type AuditSubject = 'audit.record' | 'audit.violation' | 'audit.tool';

const toolActions: ReadonlySet<string> = new Set(['tool.call', 'acl.violation', 'mcp.context.refreshed']);

/**
 * What a subject allows: only services that sign people in and change the configuration may publish `audit.record`, and they may record anything;
 * a compromised edge can write violations of access keys and nothing else, a compromised aggregator what access keys did with tools. null: it may be
 * recorded.
 */
function kindFault(subject: AuditSubject, { action, actor, entity_type }: AuditRow): string | null {
  if (subject === 'audit.record') return null;
  if (subject === 'audit.tool') {
    const isOfTools = toolActions.has(action) && actor.startsWith('api_key:') && (entity_type === 'mcp' || entity_type === 'mcp_context');
    return isOfTools ? null : 'is not what an access key did with a tool: this subject allows no other record';
  }
  const isViolation = action === 'acl.violation' && actor.startsWith('api_key:') && (entity_type === 'model' || entity_type === 'key_group');
  return isViolation ? null : 'is not a violation of an access key: this subject allows no other record';
}

export function keepAudit({ bus, storage, logger, setAside, now }: AuditKeeperDeps): Disposable {
  let failing = false;
  const keep = (subject: AuditSubject) => {
    const faultOf = (row: AuditRow): string | null => kindFault(subject, row) ?? momentFault('occurred_at', row.occurred_at, now()) ?? diffFault(row);
    void storeAgain(subject, { schema: auditLogMessage, faultOf, insert: (records) => storage.audit.insertRows(records) }, { storage, logger });
    return async (batch: readonly EventItem<AuditSubject>[]): Promise<void> => {
      try {
        const { good, bad } = readItems(batch, auditLogMessage, faultOf);
        const { givenUp, again } = judge(await commitAll(good, (some) => storage.audit.insertRows(some.map(({ value }) => value))));
        await setAside(subject, [...bad, ...givenUp.map(toBadItem)]);
        if (again !== undefined) throw again;
        failing = false;
      } catch (error) {
        if (!failing) logger.error({ error, records: batch.length }, 'audit records cannot be stored, they are delivered again');
        failing = true;
        throw error;
      }
    };
  };
  const listenings = [
    bus.listenDurably('audit.record', keep('audit.record'), batching),
    bus.listenDurably('audit.violation', keep('audit.violation'), batching),
    bus.listenDurably('audit.tool', keep('audit.tool'), batching),
  ];
  return { dispose: async () => void (await Promise.all(listenings.map((one) => one.dispose()))) };
}

/** Publishers truncate a record far below this. */
const maxDiffLength = 256 * 1024;

/** It is kept as JSON: nested too deep it cannot be written as such. */
function diffFault({ diff }: AuditRow): string | null {
  if (diff === null) return null;
  try {
    return JSON.stringify(diff).length > maxDiffLength ? 'diff: is too long' : null;
  } catch {
    return 'diff: is not valid JSON';
  }
}
