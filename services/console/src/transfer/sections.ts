/** Sections of a configuration file, in the order in which they refer to one another. */
import type { ResourcePath } from '../resources/resource.ts';

export const sections = {
  upstreams: 'upstreams',
  models: 'models',
  key_groups: 'key-groups',
  access_keys: 'access-keys',
} as const satisfies Record<string, ResourcePath>;

export type Section = keyof typeof sections;
export const sectionNames = Object.keys(sections) as Section[];

/** Version of the file's format. */
export const formatVersion = 1;
