/** What the access keys of a group may use. */
import { Badge, Group, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core';
import { IconUsersGroup } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Column } from '../../components/data-table.tsx';
import { Editable } from '../../components/editable.tsx';
import { FormSections } from '../../components/form-sections.tsx';
import { BudgetFields, KeyLimitFields } from '../../components/limit-fields.tsx';
import { NamesSelect } from '../../components/name-select.tsx';
import { OnBreakSelect } from '../../components/on-break-select.tsx';
import { ResourceDrawer } from '../../components/resource-drawer.tsx';
import { ResourcePage } from '../../components/resource-page.tsx';
import { StateBadge } from '../../components/state-badge.tsx';
import { GrantPreview } from './grant-preview.tsx';
import { HeaderRules } from './header-rules.tsx';
import { emptyGroup, type GroupForm, type KeyGroup, toBody, toForm } from './key-group.ts';
import { McpAccess } from './mcp-access.tsx';
import { MemberFields } from './member-fields.tsx';
import { StoreBodies } from './store-bodies.tsx';

export function KeyGroupsPage() {
  const { t } = useTranslation('key-groups');
  const columns: Column<KeyGroup>[] = [
    {
      id: 'models',
      title: t('models'),
      cell: ({ models }) => (
        <Text size="sm" className="anywhere">
          {models.slice(0, 4).join(', ') + (models.length > 4 ? ` +${models.length - 4}` : '') || '–'}
        </Text>
      ),
    },
    {
      id: 'description',
      title: t('description'),
      wide: true,
      cell: ({ description }) => (
        <Text size="sm" className="anywhere" lineClamp={2}>
          {description}
        </Text>
      ),
    },
    {
      id: 'enabled',
      title: t('state'),
      cell: ({ enabled, state, store_bodies }) => <State enabled={enabled} state={state} stores={store_bodies?.enabled ?? false} />,
    },
  ];
  return (
    <ResourcePage
      resource="key-groups"
      spend="key_group"
      icon={IconUsersGroup}
      t={t}
      columns={columns}
      drawer={(name, close) => <GroupDrawer name={name} onClose={close} />}
    />
  );
}

/** Shows in the list which groups store request bodies. */
function State({ enabled, state, stores }: { enabled: boolean; state: KeyGroup['state']; stores: boolean }) {
  const { t } = useTranslation('key-groups');
  return (
    <Group gap={6}>
      <StateBadge state={state} enabled={enabled} />
      {stores && (
        <Badge variant="light" color="orange" tt="none">
          {t('store.badge')}
        </Badge>
      )}
    </Group>
  );
}

function GroupDrawer({ name, onClose }: { name: string | null; onClose: () => void }) {
  const { t } = useTranslation('key-groups');
  return (
    <ResourceDrawer<KeyGroup, GroupForm>
      resource="key-groups"
      spend="key_group"
      name={name}
      createTitle={t('create')}
      empty={emptyGroup}
      toForm={toForm}
      toBody={toBody}
      onClose={onClose}
    >
      {(form) => (
        <>
          <Editable>
            <TextInput label={t('name')} description={t('fields:key_group.name')} required disabled={name !== null} {...form.getInputProps('name')} />
            <Stack gap="xs">
              <NamesSelect
                resources={['models', 'load-balancers']}
                label={t('models')}
                description={t('fields:key_group.models')}
                {...form.getInputProps('models')}
              />
              <GrantPreview patterns={form.values.models} />
            </Stack>
            <Textarea label={t('description')} autosize minRows={1} {...form.getInputProps('description')} />
            <Switch label={t('enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
            <Switch
              label={t('strict')}
              description={t('fields:key_group.strict_translation')}
              {...form.getInputProps('strict_translation', { type: 'checkbox' })}
            />
            <Switch label={t('passthrough')} description={t('fields:key_group.passthrough')} {...form.getInputProps('passthrough', { type: 'checkbox' })} />
            <Switch label={t('serverTools')} description={t('fields:key_group.server_tools')} {...form.getInputProps('server_tools', { type: 'checkbox' })} />
            <OnBreakSelect unset="upstream" {...form.getInputProps('on_break')} />
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
                    <Switch label={t('unpriced')} description={t('unpricedHint')} {...form.getInputProps('refuse_unpriced', { type: 'checkbox' })} />
                  </>
                ),
              },
              { id: 'members', title: t('members.title'), fields: ['members', 'member_keys'], content: <MemberFields form={form} /> },
              { id: 'bodies', title: t('store.title'), fields: ['store_bodies'], content: <StoreBodies form={form} /> },
              { id: 'mcp', title: t('mcp.title'), fields: ['mcp_tool_acl'], content: <McpAccess form={form} /> },
              { id: 'headers', title: t('headerAcl'), fields: ['header_acl'], content: <HeaderRules form={form} /> },
            ]}
          />
        </>
      )}
    </ResourceDrawer>
  );
}
