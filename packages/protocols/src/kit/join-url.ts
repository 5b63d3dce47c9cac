/** A path segment that names an API version: `v1`, `v1beta`, `v3`, `v4`; also `v1beta/openai`, where one vendor keeps its compatible endpoint. */
const endsWithVersion = /\/v\d+[a-z0-9]*(?:\/openai)?$/i;

/**
 * Address of an upstream call: the version segment is added only when `baseUrl` does not end with one already. `version` has no slashes; `path`
 * begins with one.
 */
export function joinUrl(baseUrl: string, version: string, path: string): string {
  const base = baseUrl.replace(/\/+$/, '');
  return endsWithVersion.test(base) ? `${base}${path}` : `${base}/${version}${path}`;
}
