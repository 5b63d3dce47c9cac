/** Tells states of the configuration apart. */
import type { CatalogState } from '@model-gateway/contracts';

/** Where one of the two does not say when it was committed, the number alone decides. */
export const isSameState = (a: CatalogState, b: CatalogState): boolean =>
  a.revision === b.revision && (a.committedAt === b.committedAt || a.committedAt === undefined || b.committedAt === undefined);
