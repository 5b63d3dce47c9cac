/** Credentials that upstreams get by a login: how they stand, and the way to a new one. */
import type { SsoCredential } from '@model-gateway/console/answers';
import { IconId } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Column } from '../../components/data-table.tsx';
import { formatRecent } from '../../components/format.ts';
import { ResourcePage } from '../../components/resource-page.tsx';
import { CredentialDrawer } from './credential-drawer.tsx';
import { CredentialState } from './credential-state.tsx';
import { LoginDrawer } from './login-drawer.tsx';
import { Returned } from './returned.tsx';
import { Upstreams } from './upstream-links.tsx';
import { useProfileNames } from './use-profiles.ts';

export function CredentialsPage() {
  const { t } = useTranslation('credentials');
  const nameOf = useProfileNames();
  // What the vendor's page sent the browser back with: read once, since the address is cleared.
  const [visited] = useState(() => window.location.href);
  const columns: Column<SsoCredential>[] = [
    { id: 'profile', title: t('profile'), wide: true, cell: ({ profile }) => <span lang="en">{nameOf(profile)}</span> },
    { id: 'account', title: t('account'), wide: true, cell: ({ account }) => <span className="anywhere">{account ?? '–'}</span> },
    { id: 'upstreams', title: t('upstreams'), wide: true, cell: ({ upstreams }) => <Upstreams names={upstreams} /> },
    { id: 'expires', title: t('expires'), wide: true, cell: ({ expires_at }) => (expires_at === null ? '–' : formatRecent(Date.parse(expires_at))) },
    { id: 'state', title: t('state'), cell: (credential) => <CredentialState credential={credential} /> },
  ];
  return (
    <ResourcePage<SsoCredential>
      resource="sso-credentials"
      icon={IconId}
      t={t}
      columns={columns}
      drawer={(name, close) => (name === null ? <LoginDrawer onClose={close} /> : <CredentialDrawer name={name} onClose={close} />)}
    >
      {new URL(visited).searchParams.has('state') && <Returned address={visited} />}
    </ResourcePage>
  );
}
