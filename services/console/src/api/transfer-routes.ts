/** The whole configuration out, and in again: one file, one transaction. */
import type { Response } from 'express';
import { stringify as printYaml } from 'yaml';
import { z } from 'zod';
import type { ResourceOperations } from '../resources/operations.ts';
import type { Room } from '../room.ts';
import { exportConfiguration } from '../transfer/export.ts';
import { importConfiguration, importSchema } from '../transfer/import.ts';
import { readInput } from '../validation/read-input.ts';
import { base, type Route } from './route.ts';

const exportQuery = z.object({ format: z.enum(['yaml', 'json']).optional() });
const importQuery = z.object({ dry_run: z.enum(['true', 'false']).default('false') });

export const transferRoutes = (resources: readonly ResourceOperations[], room: Room): Route[] => [
  {
    method: 'get',
    path: `${base}/export`,
    operationId: 'export_configuration',
    summary: 'The whole configuration, secrets sealed under the master key; YAML or JSON by `format` or Accept',
    tag: 'configuration',
    query: exportQuery,
    status: 200,
    async handle(request, response) {
      const { format } = readInput(exportQuery, request.query);
      const wanted = format ?? (request.accepts(['application/json', 'application/yaml', 'text/yaml'])?.toString().includes('yaml') ? 'yaml' : 'json');
      const configuration = await exportConfiguration(resources, room);
      if (wanted === 'json') response.json(configuration);
      else sendYaml(response, configuration);
    },
  },
  {
    method: 'post',
    path: `${base}/import`,
    operationId: 'import_configuration',
    summary: 'Create and replace what the file names, all or nothing; `dry_run=true` only tells what would change',
    tag: 'configuration',
    query: importQuery,
    body: importSchema,
    yaml: true,
    status: 200,
    failures: [409],
    async handle(request, response) {
      const { dry_run } = readInput(importQuery, request.query);
      const outcome = await importConfiguration(request.body, { dryRun: dry_run === 'true', resources, room });
      if (outcome.changed)
        room.logger.info({ action: 'import', entity: 'config', revision: outcome.revision, client_ip: request.socket.remoteAddress }, 'configuration changed');
      response.json({ dry_run: dry_run === 'true', ...outcome.diff });
    },
  },
];

function sendYaml(response: Response, value: unknown): void {
  response.type('application/yaml').send(printYaml(value, { lineWidth: 0 }));
}
