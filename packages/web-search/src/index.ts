/** Searches of the web by a provider's API, and guarded fetches of pages as text. */
export { type Domains, mayUse } from './domains.ts';
export { type FetchedPage, type FetchLimits, type FetchOutcome, fetchPage } from './fetch-page.ts';
export { type FoundPage, type SearchLimits, type SearchOutcome, type SearchProvider, searchWeb } from './search-web.ts';
export { placeTaken, type UserPlace } from './user-place.ts';
