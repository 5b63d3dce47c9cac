/** Where alerts go, and what was sent. */
import { Badge, Button, MultiSelect, NumberInput, Select, Switch, Text, Textarea, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconBellRinging, IconSend } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import type { Column } from '../../components/data-table.tsx';
import { describeFault } from '../../components/describe-fault.ts';
import { Editable } from '../../components/editable.tsx';
import { EnabledBadge } from '../../components/enabled-badge.tsx';
import { ResourceDrawer } from '../../components/resource-drawer.tsx';
import { ResourcePage } from '../../components/resource-page.tsx';
import { type AlertChannel, alertEvents, type ChannelForm, emptyChannel, toBody, toForm } from './alert-channel.ts';
import { TargetFields } from './channel-fields.tsx';
import { SentMessages } from './sent-messages.tsx';

export function AlertsPage() {
  const { t } = useTranslation('alerts');
  const columns: Column<AlertChannel>[] = [
    { id: 'kind', title: t('kind'), cell: ({ kind }) => t(`kinds.${kind}`) },
    {
      id: 'target',
      title: t('target'),
      wide: true,
      cell: ({ url, smtp, to }) => (
        <Text size="sm" className="anywhere">
          {url ?? [smtp?.host ?? '', ...to].join(' · ')}
        </Text>
      ),
    },
    {
      id: 'events',
      title: t('events'),
      wide: true,
      cell: ({ events }) => <Badge variant="default">{t('eventCount', { count: events.length, all: alertEvents.length })}</Badge>,
    },
    { id: 'enabled', title: t('state'), cell: ({ enabled }) => <EnabledBadge enabled={enabled} /> },
  ];
  return (
    <ResourcePage
      resource="alert-channels"
      icon={IconBellRinging}
      t={t}
      columns={columns}
      drawer={(name, close) => <ChannelDrawer name={name} onClose={close} />}
    >
      <SentMessages />
    </ResourcePage>
  );
}

function ChannelDrawer({ name, onClose }: { name: string | null; onClose: () => void }) {
  const { t } = useTranslation('alerts');
  return (
    <ResourceDrawer<AlertChannel, ChannelForm>
      resource="alert-channels"
      name={name}
      createTitle={t('create')}
      empty={emptyChannel}
      toForm={toForm}
      toBody={toBody}
      onClose={onClose}
      actions={(stored) => <TestButton name={stored.name} />}
    >
      {(form) => (
        <Editable>
          <TextInput label={t('name')} required disabled={name !== null} {...form.getInputProps('name')} />
          <Select
            label={t('kind')}
            allowDeselect={false}
            data={(['webhook', 'slack', 'email'] as const).map((value) => ({ value, label: t(`kinds.${value}`) }))}
            {...form.getInputProps('kind')}
          />
          <TargetFields form={form} />
          <MultiSelect label={t('events')} data={alertEvents.map((value) => ({ value, label: t(`event.${value}`) }))} {...form.getInputProps('events')} />
          <NumberInput label={t('quiet')} description={t('quietHint')} min={0} max={10080} {...form.getInputProps('quiet_minutes')} />
          <Switch label={t('enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
          <Textarea label={t('description')} autosize minRows={1} {...form.getInputProps('description')} />
        </Editable>
      )}
    </ResourceDrawer>
  );
}

function TestButton({ name }: { name: string }) {
  const { t } = useTranslation('alerts');
  const client = useQueryClient();
  const test = useMutation({
    mutationFn: () => call<{ delivered: boolean; error: string | null }>(path('alert-channels', name, 'test'), { method: 'POST' }),
    onSuccess: ({ delivered, error }) => {
      notifications.show({ message: delivered ? t('tested') : t('notTested', { error }), color: delivered ? 'green' : 'red' });
      return client.invalidateQueries({ queryKey: ['alert-messages'] });
    },
    onError: describeFault,
  });
  return (
    <Button variant="subtle" leftSection={<IconSend size={16} aria-hidden />} loading={test.isPending} onClick={() => test.mutate()}>
      {t('test')}
    </Button>
  );
}
