/** `?dry_run=true`: tells what would change, and changes nothing. */
import type { Request } from 'express';
import { z } from 'zod';
import { readInput } from '../validation/read-input.ts';

/** A dry run that is misspelt would be a real one: unknown parameters are refused. */
export const dryRunQuery = z.strictObject({ dry_run: z.enum(['true', 'false']).default('false') });

export const isDryRun = (request: Request): boolean => readInput(dryRunQuery, request.query).dry_run === 'true';
