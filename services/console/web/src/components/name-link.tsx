/** A name as a link to the page of what it names: wherever one stands, it leads there. */
import { Anchor, type AnchorProps } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** What has a page, and the address that opens it. */
const places = {
  'access-keys': (name: string) => ({ to: '/access-keys', search: { edit: name } }),
  'key-groups': (name: string) => ({ to: '/key-groups', search: { edit: name } }),
  models: (name: string) => ({ to: '/models', search: { edit: name } }),
  'load-balancers': (name: string) => ({ to: '/load-balancers', search: { edit: name } }),
  upstreams: (name: string) => ({ to: '/upstreams', search: { edit: name } }),
  pricing: (name: string) => ({ to: '/pricing', search: { edit: name } }),
  'mcp-servers': (name: string) => ({ to: '/mcp-servers', search: { edit: name } }),
  'search-providers': (name: string) => ({ to: '/web-search', search: { edit: name } }),
  users: (name: string) => ({ to: '/settings/users', search: { q: name } }),
  request: (id: string) => ({ to: '/logs', search: { request: id } }),
  session: (id: string) => ({ to: '/sessions', search: { session: id } }),
} as const satisfies Readonly<Record<string, (name: string) => { to: string; search: Record<string, unknown> }>>;

/** As statistics, budgets and the audit log call what has a page. */
const kindsByWord: Readonly<Record<string, LinkedKind>> = {
  access_key: 'access-keys',
  key: 'access-keys',
  key_group: 'key-groups',
  group: 'key-groups',
  model: 'models',
  load_balancer: 'load-balancers',
  upstream: 'upstreams',
  model_pricing: 'pricing',
  mcp_server: 'mcp-servers',
  search_provider: 'search-providers',
  console_user: 'users',
};
export const kindOf = (word: string): LinkedKind | undefined => (Object.hasOwn(kindsByWord, word) ? kindsByWord[word] : undefined);

export type LinkedKind = keyof typeof places;
export const placeOf = (kind: LinkedKind, name: string): { to: string; search: Record<string, unknown> } => places[kind](name);

interface Props extends AnchorProps {
  kind: LinkedKind;
  /** null: there is none, which is shown as a dash. */
  name: string | null | undefined;
  title?: string;
  /** Instead of the name. */
  children?: ReactNode;
}

export function NameLink({ kind, name, children, ...props }: Props) {
  if (name === null || name === undefined || name === '') return '–';
  const { to, search } = placeOf(kind, name);
  return (
    // A click on a name in a row goes to what it names, not to what the row opens.
    <Anchor component={Link} inherit className="anywhere" {...props} to={to} search={search as never} onClick={(event) => event.stopPropagation()}>
      {children ?? name}
    </Anchor>
  );
}

/** A name that may be of something without a page. `word`: as the API calls what it names. */
export const NameOf = ({ word, name }: { word: string; name: string | null }) => {
  const kind = kindOf(word);
  return kind === undefined ? (name ?? '–') : <NameLink kind={kind} name={name} />;
};

/** Beside a name that does something else when it is chosen: the way to the page of what it names. */
export function PageLink({ word, name }: { word: string; name: string | null }) {
  const { t } = useTranslation('common');
  const kind = kindOf(word);
  if (kind === undefined || name === null || name === '') return null;
  return (
    <NameLink kind={kind} name={name} aria-label={t('pageOf', { name })} title={t('pageOf', { name })} ms={6}>
      <IconExternalLink size={14} aria-hidden style={{ verticalAlign: '-2px' }} />
    </NameLink>
  );
}
