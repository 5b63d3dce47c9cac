/** Reads a stored secret, to compare it with what is sent. */
import type { Room } from '../room.ts';

/** null: its master key is gone; it can still be replaced. */
export function opens(room: Room, sealed: string, boundTo: string): string | null {
  try {
    return room.keyring.open(sealed, boundTo);
  } catch (error) {
    room.logger.warn({ error, bound_to: boundTo }, 'a stored secret does not open');
    return null;
  }
}
