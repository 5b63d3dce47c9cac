/** The whole configuration out, and in again: one file, one transaction. */
import type { CatalogWriter, RowChange } from '@model-gateway/storage';
import type { Response } from 'express';
import { stringify as printYaml } from 'yaml';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { commit } from '../history/commit.ts';
import { describeChanges, summarize } from '../history/describe-change.ts';
import { type ConvertText, createTextConverter } from '../http/reading/body-reader.ts';
import { formatEtag, revisionMatches } from '../resources/etag.ts';
import type { ResourceOperations } from '../resources/operations.ts';
import { upstreamKeyMask } from '../resources/upstream-keys.ts';
import type { TakenCredential } from '../sso/transfer.ts';
import { exportConfiguration } from '../transfer/export.ts';
import { foreignSources } from '../transfer/foreign/index.ts';
import { type ImportWork, importSchema, prepareImport } from '../transfer/import.ts';
import { readInput } from '../validation/read-input.ts';
import { convertAnswer, exportedFile, importAnswer } from './answers/configuration.ts';
import { dryRunQuery, isDryRun } from './dry-run.ts';
import { base, type Route } from './route.ts';

const exportQuery = z.object({
  format: z.enum(['yaml', 'json']).optional().meta({ undocumented: true }),
  lost_secrets: z
    .enum(['refuse', 'mask'])
    .default('refuse')
    .describe('Of secrets whose master key is gone: 409 that names them, or a mask for each, which an import takes as "as stored"'),
});

const convertBody = z.strictObject({
  source: z.enum(foreignSources),
  text: z.string().max(4_000_000).describe('YAML of LiteLLM; of new-api and one-api the tables as JSON: {"channels": […], "tokens": […]}'),
});

export const transferRoutes = (resources: readonly ResourceOperations[], context: ConsoleContext): Route[] => [
  {
    method: 'get',
    path: `${base}/export`,
    operationId: 'export_configuration',
    summary: 'The whole configuration, secrets sealed under the master key; YAML or JSON by `format` or Accept',
    tag: 'configuration',
    query: exportQuery,
    status: 200,
    answer: exportedFile,
    textForm: 'yaml',
    failures: [409],
    async handle(request, response) {
      const { format, lost_secrets } = readInput(exportQuery, request.query);
      const wanted = format ?? (request.accepts(['application/json', 'application/yaml', 'text/yaml'])?.toString().includes('yaml') ? 'yaml' : 'json');
      const configuration = await exportConfiguration(resources, context, lost_secrets);
      if (wanted === 'json') response.json(configuration);
      else sendYaml(response, configuration);
    },
  },
  {
    method: 'post',
    path: `${base}/import`,
    operationId: 'import_configuration',
    summary:
      'Create and replace what the file names, all or nothing; `dry_run=true` only tells what would change, and its ETag as If-Match lets the same be done only while nothing else was changed',
    tag: 'configuration',
    query: dryRunQuery,
    body: importSchema,
    yaml: true,
    sections: true,
    conditional: true,
    status: 200,
    answer: importAnswer,
    failures: [409, 412],
    async handle(request, response) {
      const dryRun = isDryRun(request);
      const work = await prepareImport(request.body, { resources, context });
      const purpose = {
        action: 'import',
        entity_type: 'config',
        entity_id: 'configuration',
        dryRun,
        keeps: () => changedCredentials(work).length > 0,
        parts: () => changedCredentials(work).map(recordOf),
        diff: ({ changes }: { changes: readonly RowChange[] }) => summarize(changes),
      } as const;
      const take = (writer: CatalogWriter) => {
        revisionMatches(writer, request.get('if-match'));
        return work(writer);
      };
      const { value, revision, changed, changes } = await commit(context, { request, response }, purpose, take);
      response.set('ETag', formatEtag(revision)).json({ dry_run: dryRun, revision: changed ? revision : null, ...value, ...describeChanges(changes) });
    },
  },
  convertRoute(createTextConverter()),
];

/** Changes nothing: what it gives is for `import`. */
const convertRoute = (convert: ConvertText): Route => ({
  method: 'post',
  path: `${base}/import/convert`,
  operationId: 'convert_configuration',
  summary: 'A file for `import` from the configuration of another gateway, and what became of each of its keys',
  tag: 'configuration',
  body: convertBody,
  sections: true,
  status: 200,
  answer: convertAnswer,
  async handle(request, response) {
    response.json(await convert(readInput(convertBody, request.body)));
  },
});

const changedCredentials = ({ credentials }: ImportWork): TakenCredential[] => credentials.filter(({ outcome }) => outcome !== 'unchanged');

/** Its tokens are a mask. */
const recordOf = ({ name, created, changed }: TakenCredential) =>
  ({
    action: created ? 'import' : 'update',
    entity_type: 'sso_credential',
    entity_id: name,
    diff: created
      ? { profile: created.profile, account: created.account, flow: 'file', tokens: created.tokens === null ? null : upstreamKeyMask }
      : { flow: 'file', ...changed },
  }) as const;

function sendYaml(response: Response, value: unknown): void {
  response.type('application/yaml').send(printYaml(value, { lineWidth: 0 }));
}
