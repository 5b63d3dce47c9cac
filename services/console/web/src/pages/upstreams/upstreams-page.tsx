/** Connections to providers: the list, and the drawer that creates or changes one. */
import { Badge, Button, Text } from '@mantine/core';
import { IconCloud, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useList } from '../../api/resources.ts';
import { type Column, DataTable, firstPage } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { EnabledBadge } from '../../components/enabled-badge.tsx';
import { Page } from '../../components/page.tsx';
import { useIsAdmin } from '../../session/use-me.ts';
import type { Upstream } from './upstream.ts';
import { UpstreamDrawer } from './upstream-drawer.tsx';

export function UpstreamsPage() {
  const { t } = useTranslation('upstreams');
  const isAdmin = useIsAdmin();
  const [state, setState] = useState(firstPage);
  const [open, setOpen] = useState<{ name: string | null } | null>(null);
  const query = useList<Upstream>('upstreams', { page: state.page, q: state.q, sort: state.sort });
  const columns: Column<Upstream>[] = [
    {
      id: 'name',
      title: t('name'),
      sort: 'name',
      cell: ({ name }) => (
        <Button variant="transparent" p={0} h="auto" onClick={() => setOpen({ name })}>
          {name}
        </Button>
      ),
    },
    { id: 'protocol', title: t('protocol'), cell: ({ protocol }) => <Badge variant="default">{protocol}</Badge> },
    { id: 'address', title: t('address'), wide: true, cell: ({ base_url }) => <Text className="mono">{base_url}</Text> },
    { id: 'keys', title: t('keys'), numeric: true, cell: ({ api_keys }) => api_keys.length },
    { id: 'enabled', title: t('state'), cell: ({ enabled }) => <EnabledBadge enabled={enabled} /> },
  ];
  const create = isAdmin && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setOpen({ name: null })}>
      {t('create')}
    </Button>
  );
  return (
    <Page title={t('title')} hint={t('hint')} actions={create}>
      <DataTable
        caption={t('title')}
        query={query}
        columns={columns}
        rowKey={({ name }) => name}
        onOpen={({ name }) => setOpen({ name })}
        state={state}
        onState={setState}
        empty={<EmptyState icon={IconCloud} title={t('emptyTitle')} hint={t('emptyHint')} action={create} />}
      />
      {open && <UpstreamDrawer key={open.name ?? ''} name={open.name} onClose={() => setOpen(null)} />}
    </Page>
  );
}
