import { expect, test } from '@jest/globals';
import { z } from 'zod';
import type { Problem } from '../problem.ts';
import { readInput } from './read-input.ts';

function faultOf(schema: z.ZodType, value: unknown): string | undefined {
  try {
    readInput(z.strictObject({ field: schema }), { field: value });
  } catch (error) {
    return (error as Problem).details?.[0]?.message;
  }
  return undefined;
}

test.each([
  [z.int(), 1.5, 'must be a whole number'],
  [z.int(), 'seven', 'must be a number'],
  [z.number(), null, 'must be a number'],
  [z.string(), 7, 'must be a text'],
  [z.boolean(), 'yes', 'must be true or false'],
  [z.array(z.string()), {}, 'must be a list'],
  [z.strictObject({}), 'x', 'must be an object'],
  [z.record(z.string(), z.string()), [], 'must be an object'],
  [z.string(), undefined, 'is required'],
  [z.int().max(60), 61, 'must be at most 60'],
  [z.number().positive(), 0, 'must be more than 0'],
  [z.string().max(3), 'abcd', 'must have at most 3 characters'],
  [z.string().min(1), '', 'must not be empty'],
  [z.array(z.string()).min(2), ['a'], 'must have at least 2 entries'],
  [z.enum(['day', 'week']), 'year', 'must be one of day, week'],
  [z.enum(['', 'day', 'week']), 'year', 'must be one of day, week'],
  [z.discriminatedUnion('kind', [z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })]), { kind: 'c' }, 'must be one of a, b'],
  [z.discriminatedUnion('kind', [z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })]), {}, 'must be one of a, b'],
  [z.iso.datetime({ offset: true }), 'tomorrow', 'must be a time such as 2026-01-31T12:00:00Z'],
  [z.string().regex(/^a/, 'begins with an a'), 'b', 'begins with an a'],
])('%#: what a schema says no sentence of is said in plain words', (schema, value, words) => expect(faultOf(schema, value)).toBe(words));
