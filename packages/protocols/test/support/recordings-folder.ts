import { resolve } from 'node:path';

/** Where the recorded traffic of providers lies: `FIXTURES_DIR`, else beside the repository. Tests ask here, so that they can move between folders. */
export const recordingsFolder = process.env['FIXTURES_DIR'] ?? resolve(import.meta.dirname, '../../../../../shared/fixtures');
