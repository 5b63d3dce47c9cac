/** What the palette knows without asking the gateway: settings by the words people use for them, and what can be made. */
import {
  IconAdjustments,
  IconBox,
  IconCloud,
  IconCoins,
  IconKey,
  IconScale,
  IconTool,
  IconUser,
  IconUsersGroup,
  IconWorldSearch,
  type TablerIcon,
} from '@tabler/icons-react';

/** A setting, and the page where it is set. Its texts are `palette:settings.<id>` and `palette:settingWords.<id>`. */
export interface SettingPlace {
  id: string;
  to: string;
  admin?: boolean;
}

export const settingPlaces: readonly SettingPlace[] = [
  { id: 'budget', to: '/costs' },
  { id: 'price', to: '/pricing' },
  { id: 'rateLimit', to: '/key-groups' },
  { id: 'grant', to: '/key-groups' },
  { id: 'unpriced', to: '/key-groups' },
  { id: 'storedBodies', to: '/key-groups' },
  { id: 'headerRules', to: '/key-groups' },
  { id: 'brokenStreams', to: '/key-groups' },
  { id: 'expiry', to: '/access-keys' },
  { id: 'rotation', to: '/access-keys' },
  { id: 'tags', to: '/access-keys' },
  { id: 'timeouts', to: '/upstreams' },
  { id: 'proxy', to: '/upstreams' },
  { id: 'upstreamKeys', to: '/upstreams' },
  { id: 'customHeaders', to: '/upstreams' },
  { id: 'aliases', to: '/models' },
  { id: 'failover', to: '/load-balancers' },
  { id: 'bodyRules', to: '/studio', admin: true },
  { id: 'tools', to: '/mcp-servers' },
  { id: 'webSearch', to: '/web-search' },
  { id: 'password', to: '/settings/account' },
  { id: 'sessions', to: '/settings/account' },
  { id: 'roles', to: '/settings/users', admin: true },
  { id: 'rollback', to: '/settings/history', admin: true },
  { id: 'backup', to: '/settings/transfer', admin: true },
  { id: 'setAside', to: '/settings/set-aside', admin: true },
  { id: 'colours', to: '/settings/appearance' },
];

/** What can be made by an admin: the kind, and the page whose drawer makes it. */
export const makable = [
  ['access-keys', '/access-keys'],
  ['key-groups', '/key-groups'],
  ['models', '/models'],
  ['upstreams', '/upstreams'],
  ['load-balancers', '/load-balancers'],
  ['pricing', '/pricing'],
  ['mcp-servers', '/mcp-servers'],
  ['search-providers', '/web-search'],
  ['users', '/settings/users'],
] as const;

export const kindIcons: Readonly<Record<string, TablerIcon>> = {
  'access-keys': IconKey,
  'key-groups': IconUsersGroup,
  models: IconBox,
  'load-balancers': IconScale,
  upstreams: IconCloud,
  pricing: IconCoins,
  'mcp-servers': IconTool,
  'search-providers': IconWorldSearch,
  users: IconUser,
  setting: IconAdjustments,
};

/** Whether each word of what was typed is part of one of the texts. */
export function holdsWords(typed: string, ...texts: string[]): boolean {
  const all = texts.join(' ').toLowerCase();
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

/** Values of keys begin so: they are looked up only when asked to, and in no search. */
const keyLike = /^(?:gk-|sk-|AIza|ghp_|gho_|xai-|gsk_|Bearer\s)\S{12,}$/;
export const looksLikeKey = (typed: string): boolean => keyLike.test(typed.trim());
