/** Optimistic locking: a write that names a revision is refused when the row has another. */
import { Problem } from '../problem.ts';

/** The value of `If-Match` (a list, weak or strong, or `*`), or a bare tag; undefined when there is no condition. */
export type Precondition = string | undefined;

export const formatEtag = (etag: number): string => `"${etag}"`;

/** Throws 412. */
export function etagMatches(etag: number, precondition: Precondition): void {
  if (precondition === undefined || precondition.trim() === '*') return;
  const wanted = precondition.split(',').map((tag) => tag.trim().replace(/^W\//, '').replaceAll('"', ''));
  if (!wanted.includes(String(etag))) throw new Problem('precondition_failed');
}
