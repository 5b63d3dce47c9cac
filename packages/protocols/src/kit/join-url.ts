/**
 * A path segment that names an API version: `v1`, `v1beta`, `v3`, `v4`; also `v1beta/openai`, where one vendor keeps its compatible endpoint, and
 * `v1/projects/…`, below which another one keeps those of a project.
 */
const endsWithVersion = /\/v\d+[a-z0-9]*(?:\/openai|\/projects\/[^?#]+)?$/i;
/** Addresses as their vendors document them that have no version: Databricks' model serving, GitHub Models with an organisation or without. */
const unversioned = /^https?:\/\/(?:[^/?#]+\/serving-endpoints|models\.github\.ai(?:\/orgs\/[^/?#]+)?\/inference)$/i;

/**
 * Address of an upstream call: the version segment is added only when `baseUrl` does not end with one already and is not one of the addresses without
 * a version. `version` has no slashes; `path` begins with one.
 */
export function joinUrl(baseUrl: string, version: string, path: string): string {
  const base = baseUrl.replace(/\/+$/, '');
  return endsWithVersion.test(base) || unversioned.test(base) ? `${base}${path}` : `${base}/${version}${path}`;
}
