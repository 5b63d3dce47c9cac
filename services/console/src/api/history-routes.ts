/** The history of the configuration: what each commit changed, what lies between two revisions, and the way back. */
import type { CatalogWriter, Commit, RowChange } from '@model-gateway/storage';
import type { Request } from 'express';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { commit } from '../history/commit.ts';
import { describeChanges, summarize } from '../history/describe-change.ts';
import { rollBack } from '../history/rollback.ts';
import { Problem } from '../problem.ts';
import { formatEtag, revisionMatches } from '../resources/etag.ts';
import { readInput } from '../validation/read-input.ts';
import { historyCommit, historyDiff, historyPage, rollbackAnswer } from './answers/configuration.ts';
import { isoTime } from './answers/iso-time.ts';
import { dryRunQuery, isDryRun } from './dry-run.ts';
import { cursorPage, sizeOf } from './instant.ts';
import { base, parameter, type Route } from './route.ts';

const pageQuery = z.object(cursorPage(200));
const revisionNumber = z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER);
/** The other revision; the one before when it is left out. */
const diffQuery = z.object({ against: z.union([z.literal('current'), revisionNumber]).optional() });

const shown = (one: Commit) => ({ ...one, occurred_at: isoTime(one.occurred_at) });
const tag = 'history';

function revisionOf(request: Request): number {
  const { success, data } = revisionNumber.safeParse(parameter(request, 'revision'));
  if (!success) throw new Problem('not_found', 'There is no such revision.');
  return data;
}

export function historyRoutes(context: ConsoleContext): Route[] {
  const { history, catalog } = context.storage;
  const between = async (one: number, other: number): Promise<RowChange[]> => {
    const [from, to] = one < other ? [one, other] : [other, one];
    const changes = from === to ? [] : await history.between(from, to);
    if (!changes) throw new Problem('not_found', 'The history does not reach that far.');
    return one <= other ? changes : changes.map(({ before, after, ...row }) => ({ ...row, before: after, after: before }));
  };
  return [
    {
      method: 'get',
      path: `${base}/history`,
      operationId: 'list_history',
      summary: 'Commits of the configuration, newest first',
      tag,
      query: pageQuery,
      status: 200,
      answer: historyPage,
      async handle(request, response) {
        const { cursor, ...size } = readInput(pageQuery, request.query);
        const { items, nextCursor } = await history.list({ limit: sizeOf(size), ...(cursor !== undefined && { cursor }) });
        response.json({ items: items.map(shown), next_cursor: nextCursor, revision: await catalog.revision() });
      },
    },
    {
      method: 'get',
      path: `${base}/history/{revision}`,
      operationId: 'read_history',
      summary: 'One commit and what it changed, credentials masked',
      tag,
      status: 200,
      answer: historyCommit,
      failures: [404],
      async handle(request, response) {
        const revision = revisionOf(request);
        const found = await history.find(revision);
        if (!found) throw new Problem('not_found', 'There is no such revision.');
        const { changes: _count, ...who } = shown(found);
        response.json({ ...who, ...describeChanges(await between(revision - 1, revision)) });
      },
    },
    {
      method: 'get',
      path: `${base}/history/{revision}/diff`,
      operationId: 'diff_history',
      summary: 'What leads from the state of `against` (default: the revision before) to the state of this revision',
      tag,
      query: diffQuery,
      status: 200,
      answer: historyDiff,
      failures: [404],
      async handle(request, response) {
        const to = revisionOf(request);
        const { against } = readInput(diffQuery, request.query);
        const current = await catalog.revision();
        const from = against === 'current' ? current : (against ?? to - 1);
        if (to > current || from > current) throw new Problem('not_found', 'There is no such revision.');
        response.json({ from, to, ...describeChanges(await between(from, to)) });
      },
    },
    {
      method: 'post',
      path: `${base}/history/{revision}/rollback`,
      operationId: 'roll_back',
      summary:
        'Put the configuration back to the state of this revision, as a new commit; `dry_run=true` only tells what would change, and its ETag as If-Match lets the same be done only while nothing else was changed',
      tag,
      query: dryRunQuery,
      conditional: true,
      status: 200,
      answer: rollbackAnswer,
      failures: [404, 409, 412],
      async handle(request, response) {
        const revision = revisionOf(request);
        const dryRun = isDryRun(request);
        const purpose = {
          action: 'rollback',
          entity_type: 'config',
          entity_id: String(revision),
          dryRun,
          diff: ({ changes }: { changes: readonly RowChange[] }) => summarize(changes),
        } as const;
        const putBack = (writer: CatalogWriter) => {
          revisionMatches(writer, request.get('if-match'));
          return rollBack(writer, revision, context.keyring);
        };
        const { revision: made, changed, changes } = await commit(context, { request, response }, purpose, putBack);
        response
          .set('ETag', formatEtag(made))
          .json({ dry_run: dryRun, rolled_back_to: revision, revision: changed ? made : null, ...describeChanges(changes) });
      },
    },
  ];
}
