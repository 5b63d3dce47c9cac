/** Types that no browser takes for a page. */
const inert = /^(?:application\/json|text\/event-stream)\s*(?:;|$)/i;
const sandbox = ['x-content-type-options', 'nosniff', 'content-security-policy', "sandbox; default-src 'none'; frame-ancestors 'none'"] as const;
const nothing: readonly string[] = [];

/**
 * Name, value, name, value: what goes with a reply of this type. An upstream's page that somebody opens by a link, with the key in its query, must not
 * run on the console's origin, where the session is.
 */
export const guardsOf = (contentType: string | undefined): readonly string[] => (contentType !== undefined && inert.test(contentType) ? nothing : sandbox);

/** Headers of every reply that a browser may come upon and that is not a page of the console, which sends its own. */
export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
} as const;
