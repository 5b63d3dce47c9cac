#!/usr/bin/env node
/** Writes the table of rows into tests/vendor-rules/README.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withTable } from '../tests/vendor-rules/table.ts';

const page = join(import.meta.dirname, '../tests/vendor-rules/README.md');
writeFileSync(page, withTable(readFileSync(page, 'utf8')));
