/** What the access keys of a group may use. */
import { ActionIcon, Button, Fieldset, Group, Select, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconPlus, IconTrash, IconUsersGroup } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Column } from '../../components/data-table.tsx';
import { EnabledBadge } from '../../components/enabled-badge.tsx';
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
import { NamesSelect } from '../../components/name-select.tsx';
import { ResourceDrawer } from '../../components/resource-drawer.tsx';
import { ResourcePage } from '../../components/resource-page.tsx';

interface HeaderRule {
  header: string;
  match: string;
  value?: string;
  action: string;
}

interface KeyGroup {
  name: string;
  models: string[];
  header_acl: HeaderRule[];
  rate_limit?: unknown;
  budget?: unknown;
  strict_translation?: boolean;
  enabled: boolean;
  description: string;
}

interface GroupForm extends Record<string, unknown> {
  name: string;
  models: string[];
  header_acl: Required<HeaderRule>[];
  rate_limit: KeyLimitForm;
  budget: BudgetForm;
  strict_translation: boolean;
  enabled: boolean;
  description: string;
}

const empty: GroupForm = {
  name: '',
  models: [],
  header_acl: [],
  rate_limit: keyLimitForm(undefined),
  budget: budgetForm(undefined),
  strict_translation: false,
  enabled: true,
  description: '',
};

const toForm = (group: KeyGroup): GroupForm => ({
  name: group.name,
  models: group.models,
  header_acl: group.header_acl.map((rule) => ({ ...rule, value: rule.value ?? '' })),
  rate_limit: keyLimitForm(group.rate_limit),
  budget: budgetForm(group.budget),
  strict_translation: group.strict_translation ?? false,
  enabled: group.enabled,
  description: group.description,
});

const withoutValue = new Set(['exists', 'absent']);

const toBody = (form: GroupForm) => ({
  ...form,
  name: form.name.trim(),
  header_acl: form.header_acl.map(({ value, ...rule }) => ({ ...rule, ...(!withoutValue.has(rule.match) && { value }) })),
  rate_limit: keyLimitBody(form.rate_limit),
  budget: budgetBody(form.budget),
});

export function KeyGroupsPage() {
  const { t } = useTranslation('key-groups');
  const columns: Column<KeyGroup>[] = [
    { id: 'models', title: t('models'), cell: ({ models }) => models.slice(0, 4).join(', ') + (models.length > 4 ? ` +${models.length - 4}` : '') || '–' },
    { id: 'description', title: t('description'), wide: true, cell: ({ description }) => description },
    { id: 'enabled', title: t('state'), cell: ({ enabled }) => <EnabledBadge enabled={enabled} /> },
  ];
  return (
    <ResourcePage resource="key-groups" icon={IconUsersGroup} t={t} columns={columns} drawer={(name, close) => <GroupDrawer name={name} onClose={close} />} />
  );
}

function GroupDrawer({ name, onClose }: { name: string | null; onClose: () => void }) {
  const { t } = useTranslation('key-groups');
  return (
    <ResourceDrawer<KeyGroup, GroupForm>
      resource="key-groups"
      name={name}
      createTitle={t('create')}
      empty={empty}
      toForm={toForm}
      toBody={toBody}
      onClose={onClose}
    >
      {(form) => (
        <>
          <TextInput label={t('name')} required disabled={name !== null} {...form.getInputProps('name')} />
          <NamesSelect resources={['models', 'load-balancers']} label={t('models')} description={t('modelsHint')} {...form.getInputProps('models')} />
          <Textarea label={t('description')} autosize minRows={1} {...form.getInputProps('description')} />
          <Switch label={t('enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
          <Switch label={t('strict')} description={t('strictHint')} {...form.getInputProps('strict_translation', { type: 'checkbox' })} />
          <KeyLimitFields form={form} field="rate_limit" />
          <BudgetFields form={form} field="budget" />
          <HeaderRules form={form} />
        </>
      )}
    </ResourceDrawer>
  );
}

function HeaderRules({ form }: { form: UseFormReturnType<GroupForm> }) {
  const { t } = useTranslation('key-groups');
  return (
    <Fieldset legend={t('headerAcl')}>
      <Stack gap="xs">
        {form.values.header_acl.map((rule, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the order is the rules' only identity
          <Group key={index} align="flex-end" gap="xs">
            <TextInput flex="1 1 140px" label={t('header')} {...form.getInputProps(`header_acl.${index}.header`)} />
            <Select
              w={120}
              label={t('match')}
              data={['exists', 'absent', 'equals', 'prefix', 'suffix', 'contains', 'regex']}
              {...form.getInputProps(`header_acl.${index}.match`)}
            />
            {!withoutValue.has(rule.match) && <TextInput flex="1 1 140px" label={t('value')} {...form.getInputProps(`header_acl.${index}.value`)} />}
            <Select w={100} label={t('action')} data={['allow', 'deny']} {...form.getInputProps(`header_acl.${index}.action`)} />
            <ActionIcon size="lg" color="red" aria-label={t('removeRule', { index: index + 1 })} onClick={() => form.removeListItem('header_acl', index)}>
              <IconTrash size={18} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Group>
          <Button
            variant="light"
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => form.insertListItem('header_acl', { header: '', match: 'exists', value: '', action: 'allow' })}
          >
            {t('addRule')}
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  );
}
