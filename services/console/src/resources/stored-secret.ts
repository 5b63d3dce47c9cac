/** Reads a stored secret, to compare it with what is sent, and brings one that is kept under the present master key. */
import type { Room } from '../room.ts';

/** null: its master key is gone; it can still be replaced. */
export function opens(room: Pick<Room, 'keyring' | 'logger'>, sealed: string, boundTo: string): string | null {
  try {
    return room.keyring.open(sealed, boundTo);
  } catch (error) {
    room.logger.warn({ error, bound_to: boundTo }, 'a stored secret does not open');
    return null;
  }
}

/** A secret that is kept: sealed anew when another master key than the first sealed it, which is how a rotation ends. What does not open stays as it is. */
export function renewSeal(room: Room, sealed: string, boundTo: string): string {
  const plain = room.keyring.isStale(sealed) ? opens(room, sealed, boundTo) : null;
  return plain === null ? sealed : room.keyring.seal(plain, boundTo);
}
