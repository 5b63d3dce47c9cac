#!/usr/bin/env node
/** Writes docs/configuration.md from the table of settings. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeVariables } from '../packages/config/src/index.ts';

const docs = join(import.meta.dirname, '../docs');
mkdirSync(docs, { recursive: true });
writeFileSync(join(docs, 'configuration.md'), describeVariables());
