/** The one way to change the configuration: a transaction with its author and its audit records, then the answer. */
import type { AuditAction, AuditEntityType, AuditRow } from '@model-gateway/contracts';
import type { CatalogWriter, ChangeResult, MadeChange, RowChange } from '@model-gateway/storage';
import type { Request, Response } from 'express';
import type { AuditRecord } from '../audit/audit.ts';
import { actorNameOf, auditOf } from '../audit/audit-of.ts';
import type { ConsoleContext } from '../context.ts';
import { forgetOwner } from '../turns/turn-store.ts';
import { describeChange } from './describe-change.ts';

/** Why a commit is made, as its audit record names it. */
export interface Purpose<T> {
  action: AuditAction | ((value: T) => AuditAction);
  entity_type: AuditEntityType;
  entity_id: string | ((value: T) => string);
  /** Nothing is stored or published. */
  dryRun?: boolean;
  /** Whether it is kept where no row of the configuration changed, since something else did. */
  keeps?: (value: T) => boolean;
  /** More records than the one of the purpose itself, before it. */
  parts?: (made: MadeChange<T>) => Pick<AuditRecord, 'action' | 'entity_type' | 'entity_id' | 'diff'>[];
  /** What the record of the purpose says. Default: the fields that an update changed. */
  diff?: (made: MadeChange<T>) => Record<string, unknown> | undefined;
}

/** The HTTP exchange that a commit belongs to. */
export interface Call {
  request: Request;
  response: Response;
}

/** Rejects with what `work` threw: then nothing was changed. When nothing changed, there is no revision and no record either. */
export async function commit<T>(
  context: ConsoleContext,
  { request, response }: Call,
  purpose: Purpose<T>,
  work: (writer: CatalogWriter) => Promise<T>,
): Promise<ChangeResult<T>> {
  const { actor, ip_address, request_id } = auditOf(request, actorNameOf(response));
  const { entity_type, dryRun = false } = purpose;
  const idOf = (value: T) => (typeof purpose.entity_id === 'string' ? purpose.entity_id : purpose.entity_id(value));
  const actionOf = (value: T) => (typeof purpose.action === 'string' ? purpose.action : purpose.action(value));
  let rows: readonly AuditRow[] = [];
  const result = await context.storage.catalog.change(work, {
    keep: (value, changes) => !dryRun && (changes.length > 0 || purpose.keeps?.(value) === true),
    author: (value) => ({ actor, action: actionOf(value), entity_type, entity_id: idOf(value), ip_address, request_id: request_id ?? null }),
    records(made) {
      const who = { actor, ip_address, request_id };
      const whole = { action: actionOf(made.value), entity_type, entity_id: idOf(made.value), diff: (purpose.diff ?? diffOfUpdate)(made) };
      rows = context.audit.toRows([...(purpose.parts?.(made) ?? []), ...bindingRecords(made.changes), whole].map((one) => ({ ...who, ...one })));
      return rows;
    },
  });
  if (!result.changed) return result;
  const entity_id = idOf(result.value);
  const action = actionOf(result.value);
  context.logger.info({ action, entity_type, entity_id, revision: result.revision, actor, client_ip: ip_address }, 'configuration changed');
  void forgetTurns(result.changes, context);
  if (!result.recorded) await context.audit.publish(rows);
  return result;
}

/** Stored turns go with their access key. Not waited for: what is missed here the store deletes by itself, when it finds turns whose owner is gone. */
async function forgetTurns(changes: readonly RowChange[], { bus, logger }: ConsoleContext): Promise<void> {
  for (const { section, name, before, after } of changes) {
    if (section !== 'access_keys' || !before || after) continue;
    try {
      await forgetOwner(bus, before.id);
    } catch (error) {
      logger.info({ error, access_key: name }, 'stored turns of a deleted access key are left for upkeep');
    }
  }
}

/** Whether a balancer binds its keys is a subject of its own in the audit log, whatever the change of its row was part of. */
const bindingRecords = (changes: readonly RowChange[]): Pick<AuditRecord, 'action' | 'entity_type' | 'entity_id' | 'diff'>[] =>
  changes.flatMap((change) => {
    if (change.section !== 'load_balancers' || !change.before || !change.after) return [];
    const { static_binding } = describeChange(change).fields;
    return static_binding ? [{ action: 'update', entity_type: 'lb_static_binding', entity_id: change.name, diff: { static_binding } }] : [];
  });

/** Creations and deletions say by themselves what happened; the history has the rest. */
const diffOfUpdate = ({ changes }: { changes: readonly RowChange[] }): Record<string, unknown> | undefined => {
  const [one] = changes;
  return changes.length === 1 && one?.before && one.after ? describeChange(one).fields : undefined;
};
