/** Sections of a configuration file, in the order in which they refer to one another. */
import type { ResourcePath } from '../resources/resource.ts';

export const sections = {
  upstreams: 'upstreams',
  models: 'models',
  pricing: 'pricing',
  load_balancers: 'load-balancers',
  mcp_servers: 'mcp-servers',
  search_providers: 'search-providers',
  search_config: 'search-config',
  alert_channels: 'alert-channels',
  key_groups: 'key-groups',
  access_keys: 'access-keys',
} as const satisfies Record<string, ResourcePath>;

export type Section = keyof typeof sections;
export const sectionNames = Object.keys(sections) as Section[];

/** Pins are not a resource with a name of its own: they come last, since they refer to load balancers and access keys. */
export const pinSection = 'load_balancer_pins';
/** Credentials by login are not part of the configuration, and their tokens never leave: a file names them, so that it can say which upstream uses which. */
export const credentialSection = 'sso_credentials';
export type DiffSection = Section | typeof pinSection | typeof credentialSection;

/** Version of the file's format, as `export` writes it: money is decimal strings of the currency. */
export const formatVersion = 2;
/** An earlier one that is read still: its prices are whole micro-units. */
export const microUnitsVersion = 1;
