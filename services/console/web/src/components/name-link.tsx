/** A name as a link to the page of what it names: wherever one stands, it leads there. */
import { Anchor, type AnchorProps } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

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

export type LinkedKind = keyof typeof places;
export const isLinkedKind = (kind: string): kind is LinkedKind => Object.hasOwn(places, kind);
export const placeOf = (kind: LinkedKind, name: string): { to: string; search: Record<string, unknown> } => places[kind](name);

interface Props extends AnchorProps {
  kind: LinkedKind;
  /** null: there is none, which is shown as a dash. */
  name: string | null | undefined;
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
