/** Reads a stored secret, to compare it with what is sent, and brings one that is kept under the present master key. */
import type { ConsoleContext } from '../context.ts';

/** null: its master key is gone; it can still be replaced. */
export function opens(context: Pick<ConsoleContext, 'keyring' | 'logger'>, sealed: string, boundTo: string): string | null {
  try {
    return context.keyring.open(sealed, boundTo);
  } catch (error) {
    context.logger.warn({ error, bound_to: boundTo }, 'a stored secret does not open');
    return null;
  }
}

/** A secret that is kept: sealed anew when another master key than the first sealed it, which is how a rotation ends. What does not open stays as it is. */
export function renewSeal(context: ConsoleContext, sealed: string, boundTo: string): string {
  const plain = context.keyring.isStale(sealed, boundTo) ? opens(context, sealed, boundTo) : null;
  return plain === null ? sealed : context.keyring.seal(plain, boundTo);
}
