/** What every audit record of a call has. */
import type { Request, Response } from 'express';
import type { AuditRecord } from './audit.ts';

/** The caller's own id, when it is a plain token. */
export function requestIdOf(request: Request): string | undefined {
  const id = request.get('z-request-id');
  return id !== undefined && /^[\x21-\x7e]{1,128}$/.test(id) ? id : undefined;
}

export const addressOf = (request: Request): string => request.socket.remoteAddress ?? '';

/** `actor`: who makes the call; for routes behind the credential `actorNameOf` tells. */
export const auditOf = (request: Request, actor: string): Pick<AuditRecord, 'actor' | 'ip_address' | 'request_id'> => ({
  actor,
  ip_address: addressOf(request),
  request_id: requestIdOf(request),
});

/** As the audit log has it: the user's name, or `secret_key`. */
export const actorNameOf = (response: Response): string => (response.locals['actor'] as { actor: string }).actor;
