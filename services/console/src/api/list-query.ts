/** Paging, searching and sorting of the lists. */
import type { ListQuery } from '@model-gateway/storage';
import { z } from 'zod';
import { invalidField } from '../problem.ts';

/** Left empty, as forms send what nobody filled in, is left out. */
export const maybeText = (max: number) =>
  z
    .string()
    .max(max)
    .transform((value) => value || undefined)
    .optional();

/** Of a page that is asked for by its number. */
export const pageSize = z.coerce.number().int().min(1).max(1_000).default(50);

/** A filter that is misspelt would list everything: unknown parameters are refused. */
export const listQuery = z.strictObject({
  page: z.coerce.number().int().min(1).max(1_000_000).default(1),
  page_size: pageSize,
  /** Literal text in the name (and in what else the list is looked up by). */
  q: z.string().max(200).optional(),
  /** A field, descending with `-` before it. */
  sort: z.string().max(50).optional(),
});

/** Several with commas between, or one parameter each where a tag holds a comma. */
export const tagQuery = z
  .union([z.string().transform((value) => value.split(',')), z.array(z.string())])
  .transform((tags) => tags.map((tag) => tag.trim()).filter((tag) => tag !== ''))
  .pipe(z.array(z.string().max(100)).max(50))
  .optional();

export function toListQuery({ page, page_size, q, sort }: z.output<typeof listQuery>, sortable: readonly string[]): ListQuery {
  const descending = sort?.startsWith('-') ?? false;
  // Forms send what was left empty: `sort=` asks for nothing.
  const column = (descending ? sort?.slice(1) : sort) || undefined;
  if (column !== undefined && !sortable.includes(column)) throw invalidField('sort', `is not one of ${sortable.join(', ')} (with - before it for descending)`);
  return { page, pageSize: page_size, ...(q && { search: q }), ...(column !== undefined && { sort: { column, descending } }) };
}
