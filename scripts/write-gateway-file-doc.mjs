#!/usr/bin/env node
/** Writes docs/gateway-file.md: every field of the configuration file. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeGatewayFile } from '../services/console/src/transfer/describe-file.ts';

writeFileSync(join(import.meta.dirname, '../docs/gateway-file.md'), describeGatewayFile());
