/** A name that something stored may have: PostgreSQL takes a zero byte for an error instead of a question without answers. */
import { z } from 'zod';

export const storedName = z.string().regex(/^[^\0]*$/, 'must not hold a zero byte');
