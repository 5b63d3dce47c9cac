/** Connections to providers. */
import { Badge, Text } from '@mantine/core';
import { IconCloud } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Column } from '../../components/data-table.tsx';
import { ProtocolName } from '../../components/protocol.tsx';
import { ResourcePage } from '../../components/resource-page.tsx';
import { StateBadge } from '../../components/state-badge.tsx';
import type { Upstream } from './upstream.ts';
import { UpstreamDrawer } from './upstream-drawer.tsx';

export function UpstreamsPage() {
  const { t } = useTranslation('upstreams');
  const columns: Column<Upstream>[] = [
    { id: 'protocol', title: t('protocol'), cell: ({ protocol }) => <ProtocolName id={protocol} /> },
    {
      id: 'address',
      title: t('address'),
      wide: true,
      cell: ({ base_url }) => (
        <Text size="sm" className="mono">
          {base_url}
        </Text>
      ),
    },
    { id: 'keys', title: t('keys'), numeric: true, cell: ({ api_keys }) => api_keys.length },
    {
      id: 'enabled',
      title: t('state'),
      cell: ({ enabled, state, unavailable }) =>
        enabled && unavailable ? <Unavailable reason={unavailable} /> : <StateBadge state={state} enabled={enabled} />,
    },
  ];
  return (
    <ResourcePage
      resource="upstreams"
      spend="upstream"
      icon={IconCloud}
      t={t}
      columns={columns}
      bulk={() => null}
      drawer={(name, close) => <UpstreamDrawer name={name} onClose={close} />}
    />
  );
}

/** Its credential by login gives no token. */
function Unavailable({ reason }: { reason: string }) {
  const { t } = useTranslation('upstreams');
  return (
    <Badge color="red" variant="light" style={{ flexShrink: 0 }}>
      {t(`unavailable.${reason}`)}
    </Badge>
  );
}
