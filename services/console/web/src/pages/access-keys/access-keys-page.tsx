/** Keys that callers use. A key's value is shown once when it is made, and copied by whoever may. */
import { Badge, Button, Group, Modal, Stack, Switch, TagsInput, Text, Textarea, TextInput } from '@mantine/core';
import { modals } from '@mantine/modals';
import { IconKey, IconRefresh } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import type { Column } from '../../components/data-table.tsx';
import { EnabledBadge } from '../../components/enabled-badge.tsx';
import { formatTime } from '../../components/format.ts';
import {
  BudgetFields,
  type BudgetForm,
  budgetBody,
  budgetForm,
  KeyLimitFields,
  type KeyLimitForm,
  keyLimitBody,
  keyLimitForm,
} from '../../components/limit-fields.tsx';
import { NameSelect } from '../../components/name-select.tsx';
import { ResourceDrawer } from '../../components/resource-drawer.tsx';
import { ResourcePage } from '../../components/resource-page.tsx';
import { useIsAdmin } from '../../session/use-me.ts';

interface AccessKey {
  name: string;
  /** First and last four characters; the whole value in the answer to a creation or a rotation. */
  key: string;
  group: string;
  enabled: boolean;
  expires_at: string | null;
  description: string;
  tags: string[];
  rate_limit?: unknown;
  budget?: unknown;
  anonymous: boolean;
}

interface KeyForm extends Record<string, unknown> {
  name: string;
  group: string;
  enabled: boolean;
  expires_at: string;
  description: string;
  tags: string[];
  rate_limit: KeyLimitForm;
  budget: BudgetForm;
  anonymous: boolean;
}

const empty: KeyForm = {
  name: '',
  group: '',
  enabled: true,
  expires_at: '',
  description: '',
  tags: [],
  rate_limit: keyLimitForm(undefined),
  budget: budgetForm(undefined),
  anonymous: false,
};

/** What `datetime-local` understands: the reader's own time without a zone. */
function toLocalInput(instant: string | null): string {
  if (instant === null) return '';
  const date = new Date(instant);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const toForm = (key: AccessKey): KeyForm => ({
  name: key.name,
  group: key.group,
  enabled: key.enabled,
  expires_at: toLocalInput(key.expires_at),
  description: key.description,
  tags: key.tags,
  rate_limit: keyLimitForm(key.rate_limit),
  budget: budgetForm(key.budget),
  anonymous: key.anonymous,
});

const toBody = (form: KeyForm) => ({
  ...form,
  name: form.name.trim(),
  expires_at: form.expires_at ? new Date(form.expires_at).toISOString() : null,
  rate_limit: keyLimitBody(form.rate_limit),
  budget: budgetBody(form.budget),
});

const reveal = async (name: string): Promise<string> => (await call<{ api_key: string }>(path('access-keys', name, 'api-key'))).api_key;

export function AccessKeysPage() {
  const { t } = useTranslation('access-keys');
  const isAdmin = useIsAdmin();
  const [shown, setShown] = useState<AccessKey | null>(null);
  const columns: Column<AccessKey>[] = [
    {
      id: 'key',
      title: t('key'),
      cell: ({ name, key, anonymous }) => (
        <Group gap={4} wrap="nowrap" onClick={(event) => event.stopPropagation()}>
          <Text size="sm" className="mono">
            {key}
          </Text>
          {isAdmin && !anonymous && <CopyButton text={() => reveal(name)} label={t('copy', { name })} />}
          {anonymous && <Badge variant="default">{t('anonymous')}</Badge>}
        </Group>
      ),
    },
    { id: 'group', title: t('group'), sort: 'group', cell: ({ group }) => group },
    { id: 'expires', title: t('expires'), wide: true, cell: ({ expires_at }) => (expires_at ? formatTime(expires_at) : t('never')) },
    { id: 'enabled', title: t('state'), cell: ({ enabled }) => <EnabledBadge enabled={enabled} /> },
  ];
  return (
    <ResourcePage
      resource="access-keys"
      icon={IconKey}
      t={t}
      columns={columns}
      drawer={(name, close) => <KeyDrawer name={name} onClose={close} onShow={setShown} />}
    >
      <ShownOnce shown={shown} onClose={() => setShown(null)} />
    </ResourcePage>
  );
}

function KeyDrawer({ name, onClose, onShow }: { name: string | null; onClose: () => void; onShow: (key: AccessKey) => void }) {
  const { t } = useTranslation('access-keys');
  return (
    <ResourceDrawer<AccessKey, KeyForm>
      resource="access-keys"
      name={name}
      createTitle={t('create')}
      empty={empty}
      toForm={toForm}
      toBody={toBody}
      onClose={onClose}
      onCreated={onShow}
      actions={(stored) => <RotateButton name={stored.name} onRotated={onShow} />}
    >
      {(form) => (
        <>
          <TextInput label={t('name')} required disabled={name !== null} {...form.getInputProps('name')} />
          <NameSelect
            resource="key-groups"
            label={t('group')}
            description={t('groupHint')}
            required
            {...form.getInputProps('group')}
            onChange={(value) => form.setFieldValue('group', value ?? '')}
          />
          <Switch label={t('enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
          <TextInput label={t('expires')} description={t('expiresHint')} type="datetime-local" {...form.getInputProps('expires_at')} />
          <Textarea label={t('description')} autosize minRows={1} {...form.getInputProps('description')} />
          <TagsInput label={t('tags')} {...form.getInputProps('tags')} />
          <KeyLimitFields form={form} field="rate_limit" />
          <BudgetFields form={form} field="budget" />
          {name === null && <Switch label={t('anonymous')} description={t('anonymousHint')} {...form.getInputProps('anonymous', { type: 'checkbox' })} />}
        </>
      )}
    </ResourceDrawer>
  );
}

function RotateButton({ name, onRotated }: { name: string; onRotated: (key: AccessKey) => void }) {
  const { t } = useTranslation('access-keys');
  const { t: common } = useTranslation();
  const client = useQueryClient();
  const rotate = useMutation({
    mutationFn: () => call<AccessKey>(path('access-keys', name, 'rotate'), { method: 'POST' }),
    onSuccess: (key) => {
      onRotated(key);
      return client.invalidateQueries({ queryKey: ['access-keys'] });
    },
  });
  const ask = () =>
    modals.openConfirmModal({
      title: t('rotateTitle', { name }),
      children: <Text size="sm">{t('rotateHint')}</Text>,
      labels: { confirm: t('rotate'), cancel: common('actions.cancel') },
      onConfirm: () => rotate.mutate(),
    });
  return (
    <Button variant="subtle" leftSection={<IconRefresh size={16} aria-hidden />} loading={rotate.isPending} onClick={ask}>
      {t('rotate')}
    </Button>
  );
}

function ShownOnce({ shown, onClose }: { shown: AccessKey | null; onClose: () => void }) {
  const { t } = useTranslation('access-keys');
  return (
    <Modal opened={shown !== null} onClose={onClose} title={t('shownTitle', { name: shown?.name })} size="lg" closeOnClickOutside={false}>
      <Stack>
        <Text size="sm">{shown?.anonymous ? t('shownOnce') : t('shownHint')}</Text>
        <Group wrap="nowrap" gap="xs">
          <Text className="mono" style={{ overflowWrap: 'anywhere' }}>
            {shown?.key}
          </Text>
          <CopyButton text={shown?.key ?? ''} />
        </Group>
        <Group justify="flex-end">
          <Button onClick={onClose}>{t('done')}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
