/** Where the console's built application lies: beside the bundle in an image, in its own package in a checkout. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const places = [join(import.meta.dirname, 'web'), join(import.meta.dirname, '../../../services/console/web/dist')];

/** Null when it was never built: the console then serves its API alone. */
export const findWebRoot = (): string | null => places.find((place) => existsSync(join(place, 'index.html'))) ?? null;
