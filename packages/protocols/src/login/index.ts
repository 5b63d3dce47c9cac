/** The kinds of logins by which upstreams get their credential. */
export * from './profile.ts';
export * from './profiles.ts';
export * from './settings.ts';
