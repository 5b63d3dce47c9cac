/** Environment and TOML, read once, checked by one table, frozen. */
export * from './config.ts';
export * from './config-error.ts';
export * from './describe.ts';
export * from './service-environment.ts';
