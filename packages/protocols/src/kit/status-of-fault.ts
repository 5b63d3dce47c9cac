/** Which statuses outrank an error's own words: compatible servers put "invalid request" into errors of every kind. */

/**
 * Our key, our account, the method and address that the gateway chose (405), a limit, or the server itself: whatever the body calls it, the caller
 * did nothing wrong.
 */
export const clearsCaller = (status: number | undefined): boolean =>
  status === 401 || status === 402 || status === 405 || status === 408 || status === 429 || (status !== undefined && status >= 500);
