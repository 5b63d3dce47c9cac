/** Frozen, indexed snapshots of the configuration: made by the console's source, held by every service's watcher. */

export { buildSnapshot } from './snapshot.ts';
export { type CatalogSource, type CatalogSourceDeps, createCatalogSource } from './source/source.ts';
export { type CatalogWatcher, type CatalogWatcherDeps, createCatalogWatcher } from './watcher/watcher.ts';
