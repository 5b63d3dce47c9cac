/** Who makes a call, once its credential was accepted. */
import type { ConsoleRole, ConsoleSession } from '@model-gateway/storage';
import type { Request, Response } from 'express';
import type { Visitor } from './session-keeper.ts';

/** Who makes a request, with the role that decides what is allowed. */
export interface Actor {
  /** As the audit log has it: the user's name, or `secret_key`. */
  actor: string;
  /** null for the secret key. */
  username: string | null;
  role: ConsoleRole;
  /** null for the secret key. */
  session: ConsoleSession | null;
}

export const keyActor: Actor = { actor: 'secret_key', username: null, role: 'admin', session: null };

/** Of a call that was let in; routes behind the credential only. */
export const actorOf = (response: Response): Actor => response.locals['actor'] as Actor;

export const visitorOf = (request: Request): Visitor => ({
  ipAddress: request.socket.remoteAddress ?? '',
  userAgent: request.get('user-agent') ?? '',
});
