/** The one way to change the configuration: a transaction with its author, then its audit records, then the answer. */
import type { AuditAction, AuditEntityType } from '@model-gateway/contracts';
import type { CatalogWriter, ChangeResult, RowChange } from '@model-gateway/storage';
import type { Request, Response } from 'express';
import type { AuditRecord } from '../audit/audit.ts';
import { actorNameOf, auditOf } from '../audit/audit-of.ts';
import type { Room } from '../room.ts';
import { describeChange } from './describe-change.ts';

export interface Purpose<T> {
  action: AuditAction | ((value: T) => AuditAction);
  entity_type: AuditEntityType;
  entity_id: string | ((value: T) => string);
  /** Nothing is kept, nobody is told. */
  dryRun?: boolean;
  /** More records than the one of the purpose itself, before it. */
  parts?: (result: ChangeResult<T>) => Pick<AuditRecord, 'action' | 'entity_type' | 'entity_id' | 'diff'>[];
  /** What the record of the purpose says. Default: the fields that an update changed. */
  diff?: (result: ChangeResult<T>) => Record<string, unknown> | undefined;
}

export interface Call {
  request: Request;
  response: Response;
}

/** Rejects with what `work` threw: then nothing was changed. When nothing changed, there is no revision and no record either. */
export async function commit<T>(
  room: Room,
  { request, response }: Call,
  purpose: Purpose<T>,
  work: (writer: CatalogWriter) => Promise<T>,
): Promise<ChangeResult<T>> {
  const { actor, ip_address, request_id } = auditOf(request, actorNameOf(response));
  const { entity_type, dryRun = false } = purpose;
  const idOf = (value: T) => (typeof purpose.entity_id === 'string' ? purpose.entity_id : purpose.entity_id(value));
  const actionOf = (value: T) => (typeof purpose.action === 'string' ? purpose.action : purpose.action(value));
  const result = await room.storage.catalog.change(work, {
    keep: (_value, changes) => !dryRun && changes.length > 0,
    author: (value) => ({ actor, action: actionOf(value), entity_type, entity_id: idOf(value), ip_address, request_id: request_id ?? null }),
  });
  if (!result.changed) return result;
  const entity_id = idOf(result.value);
  const action = actionOf(result.value);
  room.logger.info({ action, entity_type, entity_id, revision: result.revision, actor, client_ip: ip_address }, 'configuration changed');
  const who = { actor, ip_address, request_id };
  const diff = (purpose.diff ?? diffOfUpdate)(result);
  await room.audit(...(purpose.parts?.(result) ?? []).map((part) => ({ ...who, ...part })), { ...who, action, entity_type, entity_id, diff });
  return result;
}

/** Creations and deletions say by themselves what happened; the history has the rest. */
const diffOfUpdate = ({ changes }: { changes: readonly RowChange[] }): Record<string, unknown> | undefined => {
  const [one] = changes;
  return changes.length === 1 && one?.before && one.after ? describeChange(one).fields : undefined;
};
