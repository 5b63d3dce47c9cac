/** Changes of the configuration as several routes describe them. */
import type { HistoryDiff } from '@model-gateway/console/answers';
import { ApiProblem } from './problem.ts';

/** The changes of a commit; the list may be cut, the total is not. */
export type Changes = Pick<HistoryDiff, 'total_changes' | 'changes'>;
/** What a change would do, and the revision that it would be made on. */
export type Preview = Changes & { $etag?: string };
/** The configuration was changed since the preview. */
export const isOutdated = (error: unknown): boolean => error instanceof ApiProblem && error.status === 412;
/** One changed row, field by field. */
export type RowChange = Changes['changes'][number];
export type FieldChange = RowChange['fields'][string];

/** What a change of everything at once is recorded as being of; the name that it has there says the same again. */
export const wholeConfiguration = 'config';
