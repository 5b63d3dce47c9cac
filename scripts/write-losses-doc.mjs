#!/usr/bin/env node
/** Writes docs/losses.md: every loss that a translation can declare. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeLosses } from '../packages/protocols/test/board/losses.ts';

writeFileSync(join(import.meta.dirname, '../docs/losses.md'), writeLosses());
