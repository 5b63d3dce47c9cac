/** Access keys of callers. A key's value is shown once when it is created; later it can be copied by users with that right. */
import { Badge, Button, CloseButton, Group, Switch, TagsInput, Text, Textarea, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconKey, IconMessagesOff } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { revealKey } from '../../api/access-key-value.ts';
import { useDeleteTurns } from '../../api/turns.ts';
import { ask } from '../../components/ask.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import type { Column } from '../../components/data-table.tsx';
import { describeFault } from '../../components/describe-fault.ts';
import { Editable } from '../../components/editable.tsx';
import { FormSections } from '../../components/form-sections.tsx';
import { formatNear, formatTime } from '../../components/format.ts';
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
import { NameLink } from '../../components/name-link.tsx';
import { NameSelect } from '../../components/name-select.tsx';
import { ResourceDrawer } from '../../components/resource-drawer.tsx';
import { ResourcePage } from '../../components/resource-page.tsx';
import { SecretInput } from '../../components/secret-input.tsx';
import { StateBadge } from '../../components/state-badge.tsx';
import { useFilter, useFilters } from '../../components/use-address-state.ts';
import { useIsAdmin } from '../../session/use-me.ts';
import type { AccessKey } from './access-key.ts';
import { BulkKeys } from './bulk-keys.tsx';
import { FindKey, KeyLink, RequestsLink } from './find-key.tsx';
import { NewKey } from './new-key.tsx';
import { RotateButton } from './rotate-key.tsx';

interface KeyForm extends Record<string, unknown> {
  name: string;
  /** At creation alone: a value that clients have already. */
  key: string;
  group: string;
  enabled: boolean;
  expires_at: string;
  /** As it is stored: the input knows minutes alone. */
  stored_expiry: string | null;
  owner: string;
  description: string;
  tags: string[];
  rate_limit: KeyLimitForm;
  budget: BudgetForm;
  anonymous: boolean;
}

const empty: KeyForm = {
  name: '',
  key: '',
  group: '',
  enabled: true,
  expires_at: '',
  stored_expiry: null,
  owner: '',
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
  key: '',
  group: key.group,
  enabled: key.enabled,
  expires_at: toLocalInput(key.expires_at),
  stored_expiry: key.expires_at,
  owner: key.owner ?? '',
  description: key.description,
  tags: key.tags,
  rate_limit: keyLimitForm(key.rate_limit),
  budget: budgetForm(key.budget),
  anonymous: key.anonymous,
});

/** Left as it was shown, it stays to the second. */
const expiryOf = ({ expires_at, stored_expiry }: KeyForm): string | null => {
  if (stored_expiry !== null && expires_at === toLocalInput(stored_expiry)) return stored_expiry;
  return expires_at ? new Date(expires_at).toISOString() : null;
};

const toBody = ({ key, stored_expiry, ...form }: KeyForm) => ({
  ...form,
  ...(key.trim() && { key: key.trim() }),
  name: form.name.trim(),
  owner: form.owner.trim(),
  expires_at: expiryOf({ ...form, key, stored_expiry }),
  rate_limit: keyLimitBody(form.rate_limit),
  budget: budgetBody(form.budget),
});

export function AccessKeysPage() {
  const { t } = useTranslation('access-keys');
  const isAdmin = useIsAdmin();
  const [group, setGroup] = useFilter('group');
  const [tags, setTags] = useFilters('tags');
  const [owner, setOwner] = useFilter('owner');
  const [shown, setShown] = useState<AccessKey | null>(null);
  const columns: Column<AccessKey>[] = [
    {
      id: 'key',
      title: t('key'),
      cell: ({ name, key, anonymous }) => (
        <Group gap={4} wrap="nowrap" onClick={(event) => event.stopPropagation()}>
          <Text size="sm" className="mono nowrap">
            {key}
          </Text>
          {isAdmin && !anonymous && <CopyButton text={() => revealKey(name)} label={t('copy', { name })} />}
          {anonymous && <Badge variant="default">{t('anonymous')}</Badge>}
        </Group>
      ),
    },
    { id: 'group', title: t('group'), sort: 'group', cell: ({ group }) => <NameLink kind="key-groups" name={group} /> },
    { id: 'owner', title: t('owner'), sort: 'owner', wide: true, cell: ({ owner }) => <span className="anywhere">{owner}</span> },
    {
      id: 'used',
      title: t('lastUsed'),
      wide: true,
      cell: ({ last_used_at }) =>
        last_used_at === null ? (
          <Text size="sm" c="dimmed">
            {t('never')}
          </Text>
        ) : (
          <NearTime at={last_used_at} />
        ),
    },
    { id: 'expires', title: t('expires'), wide: true, cell: ({ expires_at }) => <Expiry at={expires_at} /> },
    { id: 'enabled', title: t('state'), cell: ({ enabled, state }) => <StateBadge state={state} enabled={enabled} /> },
  ];
  return (
    <ResourcePage
      resource="access-keys"
      spend="access_key"
      icon={IconKey}
      t={t}
      columns={columns}
      filters={
        <>
          <NameSelect resource="key-groups" aria-label={t('ofGroup')} placeholder={t('allGroups')} clearable value={group} onChange={setGroup} />
          <TagsInput aria-label={t('withTags')} placeholder={t('anyTag')} w={200} clearable value={tags} onChange={setTags} />
          {owner !== null && (
            <Badge size="lg" variant="light" tt="none" rightSection={<CloseButton size="xs" aria-label={t('anyOwner')} onClick={() => setOwner(null)} />}>
              {t('ofOwner', { owner })}
            </Badge>
          )}
          {isAdmin && <FindKey />}
        </>
      }
      query={{ group: group ?? undefined, owner: owner ?? undefined, tags: tags.length > 0 ? tags.join(',') : undefined }}
      bulk={(actions) => <BulkKeys {...actions} />}
      drawer={(name, close) => <KeyDrawer name={name} onClose={close} onShow={setShown} />}
    >
      {shown && <NewKey shown={shown} onClose={() => setShown(null)} />}
    </ResourcePage>
  );
}

function Expiry({ at }: { at: string | null }) {
  const { t } = useTranslation('access-keys');
  if (at === null) return t('never');
  const isPast = new Date(at).getTime() < Date.now();
  return isPast ? (
    <Badge color="red" variant="light" title={formatTime(at)}>
      {t('expired')}
    </Badge>
  ) : (
    <NearTime at={at} />
  );
}

/** Short enough for one line; the whole is in its title and in the key's form. */
const NearTime = ({ at }: { at: string }) => (
  <span className="nowrap" title={formatTime(at)}>
    {formatNear(at)}
  </span>
);

function KeyDrawer({ name, onClose, onShow }: { name: string | null; onClose: () => void; onShow: (key: AccessKey) => void }) {
  const { t } = useTranslation('access-keys');
  return (
    <ResourceDrawer<AccessKey, KeyForm>
      resource="access-keys"
      spend="access_key"
      name={name}
      createTitle={t('create')}
      empty={empty}
      toForm={toForm}
      toBody={toBody}
      onClose={onClose}
      onCreated={onShow}
      actions={(stored) => (
        <>
          <RotateButton name={stored.name} onRotated={onShow} />
          <DeleteTurnsButton name={stored.name} />
          <RequestsLink name={stored.name} />
          <KeyLink name={stored.name} label={t('itsUse')} />
        </>
      )}
    >
      {(form) => (
        <>
          <Editable>
            <TextInput label={t('name')} description={t('fields:access_key.name')} required disabled={name !== null} {...form.getInputProps('name')} />
            <NameSelect
              resource="key-groups"
              label={t('group')}
              description={t('fields:access_key.group')}
              required
              {...form.getInputProps('group')}
              onChange={(value) => form.setFieldValue('group', value ?? '')}
            />
            <Switch label={t('enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
            <TextInput label={t('expires')} description={t('fields:access_key.expires_at')} type="datetime-local" {...form.getInputProps('expires_at')} />
            <TextInput label={t('owner')} description={t('fields:access_key.owner')} {...form.getInputProps('owner')} />
            <Textarea label={t('description')} autosize minRows={1} {...form.getInputProps('description')} />
            <TagsInput label={t('tags')} description={t('fields:access_key.tags')} {...form.getInputProps('tags')} />
          </Editable>
          <FormSections
            errors={form.errors}
            sections={[
              {
                id: 'limits',
                title: t('limits'),
                fields: ['rate_limit', 'budget'],
                content: (
                  <>
                    <KeyLimitFields form={form} field="rate_limit" />
                    <BudgetFields form={form} field="budget" />
                  </>
                ),
              },
              ...(name === null
                ? [
                    {
                      id: 'value',
                      title: t('value'),
                      fields: ['key', 'anonymous'],
                      content: (
                        <>
                          <SecretInput label={t('ownValue')} description={t('fields:access_key.key')} autoComplete="off" {...form.getInputProps('key')} />
                          <Switch
                            label={t('anonymous')}
                            description={t('fields:access_key.anonymous')}
                            {...form.getInputProps('anonymous', { type: 'checkbox' })}
                          />
                        </>
                      ),
                    },
                  ]
                : []),
            ]}
          />
        </>
      )}
    </ResourceDrawer>
  );
}

function DeleteTurnsButton({ name }: { name: string }) {
  const { t } = useTranslation('access-keys');
  const { t: common } = useTranslation();
  const remove = useDeleteTurns();
  const onAsk = () =>
    ask({
      title: t('deleteTurnsTitle', { name }),
      children: <Text size="sm">{t('deleteTurnsHint')}</Text>,
      labels: { confirm: common('actions.delete'), cancel: common('actions.cancel') },
      confirmProps: { color: 'red.9' },
      onConfirm: () =>
        remove.mutate(name, { onSuccess: () => void notifications.show({ message: t('turnsDeleted', { name }), color: 'green' }), onError: describeFault }),
    });
  return (
    <Button variant="subtle" color="red" leftSection={<IconMessagesOff size={16} aria-hidden />} loading={remove.isPending} onClick={onAsk}>
      {t('deleteTurns')}
    </Button>
  );
}
