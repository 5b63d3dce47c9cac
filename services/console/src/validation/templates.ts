/** Templates in header values are not built yet: sent on as they stand they would mislead. */
import type { Detail } from '../problem.ts';

export const checkTemplates = (field: string, value: string | null): Detail[] =>
  value?.includes('{{') ? [{ field, message: 'templates ({{…}}) are not built yet' }] : [];
