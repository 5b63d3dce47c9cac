/** The keys of the signed-in person, their requests and what those cost. */
import { Alert, Tabs } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Page } from '../../components/page.tsx';
import { useFilter } from '../../components/use-address-state.ts';
import { useMe } from '../../session/use-me.ts';
import { MyCostsTab } from './my-costs.tsx';
import { MyKeysTab } from './my-keys.tsx';
import { MyRequestsTab } from './my-requests.tsx';

const tabs = ['keys', 'requests', 'costs'] as const;

export function MyPage() {
  const { t } = useTranslation('my');
  const [chosen, choose] = useFilter('tab');
  const tab = tabs.find((one) => one === chosen) ?? 'keys';
  const me = useMe().data;
  if (me && me.username === null)
    return (
      <Page title={t('title')} hint={t('hint')}>
        <Alert color="gray" title={t('account:keyTitle')}>
          {t('nobody')}
        </Alert>
      </Page>
    );
  return (
    <Page title={t('title')} hint={t('hint')}>
      <Tabs value={tab} onChange={(value) => choose(value === 'keys' ? null : value)} keepMounted={false}>
        <Tabs.List mb="md">
          {tabs.map((value) => (
            <Tabs.Tab key={value} value={value}>
              {t(`tabs.${value}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="keys">
          <MyKeysTab />
        </Tabs.Panel>
        <Tabs.Panel value="requests">
          <MyRequestsTab />
        </Tabs.Panel>
        <Tabs.Panel value="costs">
          <MyCostsTab />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
