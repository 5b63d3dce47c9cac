/** Scripts and body rules are tried here before they are put into an upstream or a model: nothing is stored and nothing is sent. */
import { Tabs } from '@mantine/core';
import { IconCode, IconListCheck } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from '../../components/page.tsx';
import { RulesPanel } from './rules-panel.tsx';
import { ScriptPanel } from './script-panel.tsx';

export function StudioPage() {
  const { t } = useTranslation('studio');
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as { tab?: unknown };
  const { tab } = search;
  return (
    <Page title={t('title')} hint={t('hint')}>
      <Tabs
        value={tab === 'rules' ? 'rules' : 'scripts'}
        onChange={(chosen) => navigate({ to: '/studio', search: { ...search, tab: chosen } as never, replace: true })}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="scripts" leftSection={<IconCode size={16} aria-hidden />}>
            {t('scripts')}
          </Tabs.Tab>
          <Tabs.Tab value="rules" leftSection={<IconListCheck size={16} aria-hidden />}>
            {t('rules')}
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="scripts">
          <ScriptPanel />
        </Tabs.Panel>
        <Tabs.Panel value="rules">
          <RulesPanel />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
