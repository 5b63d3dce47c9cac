/** How upstreams stand, and, as a second tab, which of their keys callers are bound to. */
import { Button, Tabs, Text } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { formatNumber } from '../../components/format.ts';
import { Page } from '../../components/page.tsx';
import { useListState } from '../../components/use-address-state.ts';
import { useIsAdmin } from '../../session/use-me.ts';
import { KeyMonitorTab } from '../model-monitor/key-monitor-tab.tsx';
import { foundUpstreams, UpstreamsTab } from './upstreams-tab.tsx';
import { useHealth, useTests } from './use-health.ts';

/** Each tab has an address of its own. */
const addresses = { upstreams: '/health', keys: '/model-monitor' } as const;

export function HealthPage() {
  const { t } = useTranslation(['health', 'model-monitor']);
  const isAdmin = useIsAdmin();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const tab = pathname === addresses.keys ? 'keys' : 'upstreams';
  const health = useHealth(tab === 'upstreams');
  const tests = useTests();
  const { q } = useListState()[0];
  const testable = foundUpstreams(health.data?.items ?? [], q)
    .filter(({ state }) => state.status !== 'disabled')
    .map(({ name }) => name);
  const testAll = tab === 'upstreams' && isAdmin && testable.length > 0 && (
    <Button
      leftSection={<IconPlayerPlay size={16} aria-hidden />}
      disabled={tests.running > 0}
      aria-busy={tests.running > 0}
      onClick={() => void tests.run(testable)}
      variant="default"
      aria-describedby="test-hint"
    >
      {tests.running > 0
        ? t('testing', { done: tests.all - tests.running, all: tests.all })
        : t(q === '' ? 'testAll' : 'testFound', { number: formatNumber(testable.length) })}
    </Button>
  );
  return (
    <Page title={tab === 'keys' ? t('model-monitor:title') : t('title')} hint={tab === 'keys' ? t('model-monitor:hint') : t('hint')} actions={testAll}>
      <Tabs value={tab} onChange={(chosen) => void navigate({ to: addresses[chosen === 'keys' ? 'keys' : 'upstreams'] })} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="upstreams">{t('tabs.upstreams')}</Tabs.Tab>
          <Tabs.Tab value="keys">{t('tabs.keys')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="upstreams">
          <UpstreamsTab health={health} tests={isAdmin ? tests : null} />
          {isAdmin && (
            <Text size="xs" c="dimmed" mt="sm" id="test-hint">
              {t('testHint')}
            </Text>
          )}
        </Tabs.Panel>
        <Tabs.Panel value="keys">
          <KeyMonitorTab />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
