/** Several edits in one commit. */
import type { MadeChange } from '@model-gateway/storage';
import type { ConsoleContext } from '../context.ts';
import { type BatchResult, batchSchema, prepareBatch } from '../history/batch.ts';
import { commit } from '../history/commit.ts';
import { describeChange, describeChanges, summarize } from '../history/describe-change.ts';
import type { ResourceOperations } from '../resources/operations.ts';
import { readInput } from '../validation/read-input.ts';
import { batchAnswer } from './answers/configuration.ts';
import { dryRunQuery, isDryRun } from './dry-run.ts';
import { base, type Route } from './route.ts';

export const batchRoutes = (resources: readonly ResourceOperations[], context: ConsoleContext): Route[] => [
  {
    method: 'post',
    path: `${base}/batch`,
    operationId: 'commit_batch',
    summary: 'Staged edits in one commit, all or nothing; `dry_run=true` only tells what would change',
    tag: 'configuration',
    query: dryRunQuery,
    body: batchSchema,
    sections: true,
    status: 200,
    answer: batchAnswer,
    failures: [404, 409, 412],
    async handle(request, response) {
      const dryRun = isDryRun(request);
      const { entries } = readInput(batchSchema, request.body);
      const purpose = {
        action: 'batch_commit',
        entity_type: 'batch',
        entity_id: `${entries.length} edits`,
        dryRun,
        parts: ({ value, changes }: MadeChange<BatchResult[]>) =>
          value.map(({ action, resource, name }) => {
            const { path, entityType } = resources.find(({ path }) => path === resource)!;
            const change = changes.find((one) => one.section.replaceAll('_', '-') === path && one.name === name);
            const fields = change?.before && change.after ? describeChange(change).fields : {};
            return { action: 'batch_update' as const, entity_type: entityType, entity_id: name, diff: { action, ...fields } };
          }),
        diff: ({ revision, changes }: MadeChange<BatchResult[]>) => ({ revision, ...summarize(changes) }),
      } as const;
      const { value, revision, changed, changes } = await commit(context, { request, response }, purpose, prepareBatch(entries, resources));
      response.json({
        dry_run: dryRun,
        revision: changed ? revision : null,
        // A value that is shown once must not be shown by a rehearsal: it would be another the next time.
        results: dryRun ? value.map(({ body: _body, etag: _etag, ...result }) => result) : value,
        ...describeChanges(changes),
      });
    },
  },
];
