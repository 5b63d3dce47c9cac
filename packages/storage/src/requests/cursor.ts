/** Where a page of request rows ended, as an opaque token. */
import { GatewayError } from '@model-gateway/contracts/errors';

/** The key of the last row of a page. */
export interface Position {
  startedAt: number;
  id: string;
}

export const writeCursor = ({ startedAt, id }: Position): string => Buffer.from(`${startedAt}:${id}`, 'utf8').toString('base64url');

/** Throws `validation_failed` naming `cursor`. */
export function readCursor(cursor: string): Position {
  const match = /^(\d{1,16}):(.{1,2048})$/su.exec(Buffer.from(cursor, 'base64url').toString('utf8'));
  const startedAt = Number(match?.[1]);
  if (!match?.[2] || !Number.isSafeInteger(startedAt))
    throw new GatewayError('validation_failed', { message: 'This cursor is not valid: send the next_cursor of an earlier reply.', param: 'cursor' });
  return { startedAt, id: match[2] };
}
