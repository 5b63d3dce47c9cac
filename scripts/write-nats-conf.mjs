#!/usr/bin/env node
/** Writes deploy/nats/nats.conf from the table of the services' subjects. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeNatsServer } from '../packages/bus/src/index.ts';

writeFileSync(join(import.meta.dirname, '../deploy/nats/nats.conf'), describeNatsServer());
