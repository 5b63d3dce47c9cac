#!/usr/bin/env node
/** Writes docs/compatibility.md: what the board's tests find, over every pair of protocols. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeBoard } from '../packages/protocols/test/board/board.ts';

writeFileSync(join(import.meta.dirname, '../docs/compatibility.md'), writeBoard());
