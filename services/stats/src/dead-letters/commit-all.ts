/** Commits what can be committed of a batch, and sees to it that one item that no database takes cannot hold up all others for ever. */
import { isGatewayError } from '@model-gateway/contracts/errors';
import type { ReadItem } from './read-item.ts';
import type { BadItem } from './set-aside.ts';

/** An item that the database refused. */
export interface Refused<T> {
  item: T;
  error: unknown;
}

const isAway = (error: unknown): boolean => isGatewayError(error) && error.code === 'service_unavailable';

/**
 * Resolves with the items that were refused each on its own; all others are committed. Rejects when the database is away: then it is no item's fault,
 * and the batch is to be delivered again.
 */
export async function commitAll<T>(items: readonly T[], insert: (items: readonly T[]) => Promise<void>): Promise<Refused<T>[]> {
  if (items.length === 0) return [];
  try {
    await insert(items);
    return [];
  } catch (error) {
    if (isAway(error)) throw error;
    const [item] = items;
    if (items.length === 1 && item !== undefined) return [{ item, error }];
    // Halving finds one bad item among 500 in about 20 statements.
    const middle = Math.ceil(items.length / 2);
    return [...(await commitAll(items.slice(0, middle), insert)), ...(await commitAll(items.slice(middle), insert))];
  }
}

/** What the database says of a value is final. Anything else may be a defect that passes, and is tried so many times. */
const maxDeliveries = 5;

/** Those that are given up, and the error of those that are to be delivered again. */
export function judge<T extends { deliveries: number }>(refused: readonly Refused<T>[]): { givenUp: Refused<T>[]; again: unknown } {
  const isFinal = ({ item, error }: Refused<T>): boolean => (isGatewayError(error) && error.code === 'validation_failed') || item.deliveries >= maxDeliveries;
  return { givenUp: refused.filter(isFinal), again: refused.find((one) => !isFinal(one))?.error };
}

export const toBadItem = ({ item: { item }, error }: Refused<Pick<ReadItem<unknown>, 'item'>>): BadItem => ({
  id: item.id,
  event: item.event,
  reason: `refused: ${nameOf(error)}`,
});

/** An engine may repeat a value in its words: those of an unknown error are not kept. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const { cause = error } = error;
  const { code, errcode } = cause as { code?: unknown; errcode?: unknown };
  return `${isGatewayError(error) ? error.message : error.name}${code === undefined && errcode === undefined ? '' : ` (${String(errcode ?? code)})`}`;
}
