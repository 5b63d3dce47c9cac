/** Where a user is, as several vendors' search tools spell it: `{ type: 'approximate', city, country, region, timezone }`. */
import type { UserPlace } from '../chat/conversation.ts';
import { asString, own } from './read.ts';

const maxLength = 100;
const fields = ['country', 'region', 'city', 'timezone'] as const;

/** undefined: nothing is said. */
export function readUserPlace(location: unknown): UserPlace | undefined {
  const said = fields.flatMap((field) => {
    const value = asString(own(location, field))?.trim() ?? '';
    return value === '' || value.length > maxLength ? [] : [[field, value] as const];
  });
  return said.length > 0 ? Object.fromEntries(said) : undefined;
}
