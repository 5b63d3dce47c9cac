/** Names that nothing new is given: rows that have one keep it. */
import { type Detail, invalid } from '../problem.ts';

/** Clients take these segments out of an address before they send it, so that the row could be neither read nor deleted. */
export const checkNewName = (name: string, field = 'name'): Detail[] =>
  name === '.' || name === '..' ? [{ field, message: 'must not be . or .. alone: clients take these out of addresses' }] : [];

/** Throws 422. */
export function refuseNewName(name: string, field: string): void {
  const faults = checkNewName(name, field);
  if (faults.length > 0) throw invalid(faults);
}
