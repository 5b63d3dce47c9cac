/** MCP servers: how they are reached, whether they are well, and which tools they have. */
import { ActionIcon, Badge, Button, Group, JsonInput, NumberInput, Select, SimpleGrid, Switch, TagsInput, Text, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconPlus, IconTool, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import type { Column } from '../../components/data-table.tsx';
import { Editable } from '../../components/editable.tsx';
import { EnabledBadge } from '../../components/enabled-badge.tsx';
import { FormSections } from '../../components/form-sections.tsx';
import { jsonFaults } from '../../components/json-text.ts';
import { ResourceDrawer } from '../../components/resource-drawer.tsx';
import { ResourcePage } from '../../components/resource-page.tsx';
import { connectionTypes, emptyServer, type McpServer, type McpServerForm, type McpState, type McpStatus, toBody, toForm, transports } from './mcp-server.ts';
import { Tools } from './tools.tsx';

const refreshMs = 5000;

/** What a REST service's operations look like. */
const operationsExample = `{
  "title": "Shop",
  "operations": [
    { "operation_id": "get_order", "method": "GET", "path": "/orders/{id}" }
  ]
}`;

const colors: Readonly<Record<McpState | 'unanswered', string>> = { unknown: 'gray', unanswered: 'orange', healthy: 'green', unhealthy: 'red' };

export function McpServersPage() {
  const { t } = useTranslation('mcp-servers');
  const statuses = useQuery({
    queryKey: ['mcp-servers', 'status'],
    queryFn: ({ signal }) => call<{ items: McpStatus[] }>('mcp-status', { signal }),
    refetchInterval: refreshMs,
  });
  const statusOf = (name: string) => statuses.data?.items.find((one) => one.name === name);
  const columns: Column<McpServer>[] = [
    { id: 'endpoint', title: t('endpoint'), wide: true, cell: ({ endpoint }) => <span className="mono anywhere">{endpoint}</span> },
    { id: 'tools', title: t('tools'), cell: ({ name }) => statusOf(name)?.tools ?? '–' },
    { id: 'state', title: t('state'), cell: ({ name, enabled }) => (enabled ? <Health status={statusOf(name)} /> : <EnabledBadge enabled={false} />) },
  ];
  return <ResourcePage resource="mcp-servers" icon={IconTool} t={t} columns={columns} drawer={(name, close) => <ServerDrawer name={name} onClose={close} />} />;
}

/** In words as well as in colour, with the reason below: who has no mouse sees it too. */
function Health({ status }: { status: McpStatus | undefined }) {
  const { t } = useTranslation('mcp-servers');
  const known = status?.state ?? 'unknown';
  // A server that has not answered yet, with too few failures to count as unhealthy.
  const state = known === 'unknown' && status?.reason ? 'unanswered' : known;
  return (
    <>
      <Badge color={colors[state]} variant="light" style={{ flexShrink: 0 }}>
        {t(`states.${state}`)}
      </Badge>
      {status?.stale && (
        <Text size="xs" c="dimmed">
          {t('stale')}
        </Text>
      )}
      {status?.reason && (
        <Text size="xs" c="dimmed" maw={340} lineClamp={2} className="anywhere">
          {status.reason}
        </Text>
      )}
    </>
  );
}

function ServerDrawer({ name, onClose }: { name: string | null; onClose: () => void }) {
  const { t } = useTranslation('mcp-servers');
  return (
    <ResourceDrawer<McpServer, McpServerForm>
      resource="mcp-servers"
      name={name}
      createTitle={t('create')}
      empty={emptyServer}
      toForm={toForm}
      toBody={toBody}
      validate={({ extra_config }) => jsonFaults({ extra_config }, t('notJson'))}
      onClose={onClose}
    >
      {(form, stored) => (
        <>
          {stored && <Tools name={stored.name} />}
          <MainFields form={form} isNew={name === null} />
          <FormSections
            errors={form.errors}
            sections={[
              { id: 'headers', title: t('headers'), fields: ['extra_headers'], content: <Headers form={form} /> },
              {
                id: 'more',
                title: t('more'),
                fields: ['priority', 'idle_timeout_secs', 'defer_loading'],
                content: (
                  <>
                    <SimpleGrid cols={{ base: 1, xs: 2 }} style={{ alignItems: 'end' }}>
                      <NumberInput
                        label={t('priority')}
                        description={t('fields:mcp_server.priority')}
                        min={0}
                        max={999}
                        allowDecimal={false}
                        {...form.getInputProps('priority')}
                      />
                      <NumberInput
                        label={t('idle')}
                        description={t('fields:mcp_server.idle_timeout_secs')}
                        min={1}
                        max={86_400}
                        allowDecimal={false}
                        {...form.getInputProps('idle_timeout_secs')}
                      />
                    </SimpleGrid>
                    <Switch
                      label={t('defer')}
                      description={t('fields:mcp_server.defer_loading')}
                      {...form.getInputProps('defer_loading', { type: 'checkbox' })}
                    />
                  </>
                ),
              },
            ]}
          />
          {stored && <ByTheApi server={stored} />}
        </>
      )}
    </ResourceDrawer>
  );
}

function MainFields({ form, isNew }: { form: UseFormReturnType<McpServerForm>; isNew: boolean }) {
  const { t } = useTranslation('mcp-servers');
  return (
    <Editable>
      <TextInput label={t('name')} description={t('fields:mcp_server.name')} required disabled={!isNew} {...form.getInputProps('name')} />
      <TextInput
        label={t('endpoint')}
        description={t('fields:mcp_server.endpoint')}
        required
        placeholder="https://mcp.example.com/mcp"
        {...form.getInputProps('endpoint')}
      />
      <Select
        label={t('connection')}
        description={t('fields:mcp_server.connection_type')}
        allowDeselect={false}
        data={connectionTypes.map((value) => ({ value, label: t(`connections.${value}`) }))}
        {...form.getInputProps('connection_type')}
      />
      {form.values.connection_type !== 'rest_bridge' && (
        <Select
          label={t('transport')}
          description={t('fields:mcp_server.transport')}
          allowDeselect={false}
          data={transports.map((value) => ({ value, label: t(`transports.${value}`) }))}
          {...form.getInputProps('transport')}
        />
      )}
      {(form.values.connection_type === 'rest_bridge' || form.values.extra_config !== '') && (
        <JsonInput
          label={t('operations')}
          description={t('operationsHint')}
          required={form.values.connection_type === 'rest_bridge'}
          placeholder={operationsExample}
          autosize
          minRows={6}
          maxRows={20}
          classNames={{ input: 'mono' }}
          {...form.getInputProps('extra_config')}
        />
      )}
      <TextInput
        label={t('auth')}
        description={t('fields:mcp_server.auth_header')}
        autoComplete="off"
        placeholder="Bearer …"
        {...form.getInputProps('auth_header')}
      />
      <TagsInput label={t('tags')} description={t('fields:mcp_server.tags')} {...form.getInputProps('tags')} />
      <Textarea label={t('description')} description={t('fields:mcp_server.description')} autosize minRows={1} {...form.getInputProps('description')} />
      <Switch label={t('hold')} description={t('fields:mcp_server.hold_changed_tools')} {...form.getInputProps('hold_changed_tools', { type: 'checkbox' })} />
      <Switch label={t('enabled')} description={t('fields:mcp_server.enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
    </Editable>
  );
}

function Headers({ form }: { form: UseFormReturnType<McpServerForm> }) {
  const { t } = useTranslation('mcp-servers');
  return (
    <>
      <Text size="sm" c="dimmed">
        {t('fields:mcp_server.extra_headers')}
      </Text>
      {form.values.extra_headers.map((_header, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order is the headers' only identity
        <Group key={index} align="flex-end" gap="xs">
          <TextInput flex="1 1 140px" label={t('headerName')} {...form.getInputProps(`extra_headers.${index}.name`)} />
          <TextInput flex="2 1 180px" label={t('headerValue')} autoComplete="off" {...form.getInputProps(`extra_headers.${index}.value`)} />
          <ActionIcon size="lg" color="red" aria-label={t('removeHeader', { index: index + 1 })} onClick={() => form.removeListItem('extra_headers', index)}>
            <IconTrash size={18} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      <Group>
        <Button
          variant="light"
          size="xs"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => form.insertListItem('extra_headers', { name: '', value: '' })}
        >
          {t('addHeader')}
        </Button>
      </Group>
    </>
  );
}

/** What is set by the API alone. */
function ByTheApi({ server: { health_check, max_concurrency, rate_limit } }: { server: McpServer }) {
  const { t } = useTranslation('mcp-servers');
  const { path, interval_secs: interval, timeout_secs: timeout } = health_check;
  const lines = [
    t('healthCheck', { path: path ?? t('handshake'), interval, timeout }),
    max_concurrency === null ? t('noConcurrency') : t('concurrency', { count: max_concurrency }),
    rate_limit === null ? t('noRate') : t('rate', { requests: rate_limit.requests_per_second ?? '–', tokens: rate_limit.tokens_per_minute ?? '–' }),
  ];
  return (
    <div>
      <Text size="sm" fw={500}>
        {t('byTheApi')}
      </Text>
      {lines.map((line) => (
        <Text key={line} size="sm" c="dimmed" className="anywhere">
          {line}
        </Text>
      ))}
    </div>
  );
}
