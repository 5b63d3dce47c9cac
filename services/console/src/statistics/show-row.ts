/** Rows of requests as the API gives them. */
import { printMaybeMoney, type RequestRow, sealedAs } from '@model-gateway/contracts';
import { type Keyring, SealError } from '@model-gateway/secrets';
import type { ShownRow } from '../api/answers/request-row.ts';

/** The upstream's words are left out: they are sealed, and shown with one request alone. */
export const showRow = <T extends RequestRow>(row: T): T & ShownRow => ({
  ...row,
  attempts: row.attempts.some(({ message }) => message !== undefined) ? row.attempts.map(({ message: _sealed, ...attempt }) => attempt) : row.attempts,
  cost: printMaybeMoney(row.cost_micros),
});

/** One request with the upstream's words; those that do not open any more (their master key is gone) are left out. */
export function showDetails(row: RequestRow, keyring: Keyring): ShownRow {
  const place = sealedAs.attemptMessage(row.of ?? row.id);
  const opened = row.attempts.map(({ message, ...attempt }) => {
    const words = message === undefined ? undefined : openWords(message, place, keyring);
    return { ...attempt, ...(words !== undefined && { message: words }) };
  });
  return { ...showRow(row), attempts: opened };
}

function openWords(sealed: string, place: string, keyring: Keyring): string | undefined {
  try {
    return keyring.open(sealed, place);
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}
