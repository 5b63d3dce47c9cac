/** Optimistic locking: a write that names a revision is refused when the row has another. */
import { invalidField, Problem } from '../problem.ts';

/** The value of `If-Match` (a list, weak or strong, or `*`), or a bare tag; undefined when there is no condition. */
export type Precondition = string | undefined;

/** The tag that a body carries: text as replies have it, or its number. Throws 422: a tag that cannot be read would let another's change be overwritten. */
export function etagOf(body: Readonly<Record<string, unknown>>, field = 'etag'): Precondition {
  const etag = body['etag'];
  if (etag === undefined || etag === null) return undefined;
  if (typeof etag === 'number') return String(etag);
  if (typeof etag !== 'string') throw invalidField(field, 'must be the etag of a reply');
  return etag;
}

export const formatEtag = (etag: number): string => `"${etag}"`;

/** Of a change of the whole configuration: the condition names the revision that its preview was made on. Throws 412. */
export const revisionMatches = ({ revision }: { revision: number }, precondition: Precondition): void => etagMatches(revision - 1, precondition);

/** Throws 412. */
export function etagMatches(etag: number, precondition: Precondition): void {
  if (precondition === undefined || precondition.trim() === '*') return;
  const wanted = precondition.split(',').map((tag) => tag.trim().replace(/^W\//, '').replaceAll('"', ''));
  if (!wanted.includes(String(etag))) throw new Problem('precondition_failed');
}
