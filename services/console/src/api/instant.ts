/** A moment in a query: ISO 8601, or milliseconds since the epoch. */
import { z } from 'zod';

export const instant = z
  .string()
  .max(40)
  .transform((value, context) => {
    const time = /^\d{1,15}$/.test(value) ? Number(value) : z.iso.datetime({ offset: true }).safeParse(value).success ? Date.parse(value) : Number.NaN;
    if (Number.isNaN(time)) context.addIssue({ code: 'custom', message: 'must be an ISO 8601 instant or milliseconds since the epoch' });
    return time;
  })
  .optional();
