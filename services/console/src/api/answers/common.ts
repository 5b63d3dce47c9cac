/** Parts that answers share. These schemas describe; what they describe is checked by the tests, answer by answer. */
import { z } from 'zod';

export const text = z.string();
export const maybeText = text.nullable();
export const count = z.int().min(0);
export const maybeCount = count.nullable();
/** An amount in the currency given by a sibling field, in a form for people and one for programs. */
export const money = z.string().describe('Decimal string, in whole currency');
export const micros = z.int().describe('Micro-units: millionths of the currency');
/** Milliseconds since the epoch. */
export const epochMs = z.int();
export const instant = z.iso.datetime();
export const anything = z.json();
/** A JSON object of any shape. */
export const anyObject = z.record(z.string(), anything);

/** What a translation could not keep. */
export const loss = z.strictObject({ field: text, action: z.enum(['dropped', 'downgraded', 'emulated', 'renamed']), detail: text });

/** What every stored thing shows beside its own fields. */
export const stored = { id: text, etag: text, created_at: instant, updated_at: instant };

export const pageOf = <T extends z.ZodType>(item: T) => z.strictObject({ items: z.array(item), total: count, page: z.int().min(1), page_size: z.int().min(1) });

export const cursorPageOf = <T extends z.ZodType>(item: T) => z.strictObject({ items: z.array(item), next_cursor: maybeText });

/** Which live processes an answer was gathered from. */
export const processes = z.strictObject({ answered: z.array(text), missing: z.array(text) });
