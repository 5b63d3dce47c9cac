/** Where a user is, in the terms of search providers. */
import type { SearchKind } from '@model-gateway/contracts';

/** Roughly where a user is. `country`: two letters of ISO 3166; `timezone`: a name of the IANA's. */
export interface UserPlace {
  country?: string;
  region?: string;
  city?: string;
  timezone?: string;
}

/** Countries that Tavily takes and calls as English does. It refuses a search for any other. See https://docs.tavily.com/documentation/api-reference/endpoint/search */
const named = new Set(
  (
    'AE AR AT AU BD BE BG BR CA CH CL CN CO CR CY DE DK EC EE EG ES FI FR GB GR HR HU ID IE IL IN IS IT JP KE KR LT LU LV MA MT MX MY NG NL NO NZ PE PH PK PL ' +
    'PT RO RS SA SE SG SI SK TH TN TW UA US UY VN ZA'
  ).split(' '),
);
/** Those that it calls by another name. */
const called: ReadonlyMap<string, string> = new Map([
  ['CZ', 'czech republic'],
  ['TR', 'turkey'],
]);
const english = new Intl.DisplayNames('en', { type: 'region' });

/** undefined: it is not known whether Tavily takes it. */
export function countryName(code: string | undefined): string | undefined {
  const upper = code?.toUpperCase() ?? '';
  return called.get(upper) ?? (named.has(upper) ? english.of(upper)?.toLowerCase() : undefined);
}

/** How much of where the user is a kind of provider takes. */
export function placeTaken(kind: SearchKind, place: UserPlace): 'all' | 'country' | 'none' {
  if (kind === 'http' || kind === 'brave') return 'all';
  if (kind !== 'tavily' || countryName(place.country) === undefined) return 'none';
  return Object.keys(place).length === 1 ? 'all' : 'country';
}
