/** The tools of one server as they are now: what each costs a model, what changed, and a try of one. */
import { Alert, Badge, Button, Code, Fieldset, Group, JsonInput, ScrollArea, Select, Stack, Table, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatNumber, formatTime } from '../../components/format.ts';
import { useIsAdmin } from '../../session/use-me.ts';
import type { McpTool, McpTools } from './mcp-server.ts';

const refreshMs = 5000;
/** After something was asked of the server: what comes of it is seen at once, for so long. */
const quickMs = 500;
const quickForMs = 10_000;
const maxShown = 20_000;

export function Tools({ name }: { name: string }) {
  const { t } = useTranslation('mcp-servers');
  const isAdmin = useIsAdmin();
  const client = useQueryClient();
  const [quickUntil, setQuickUntil] = useState(0);
  const found = useQuery({
    queryKey: ['mcp-servers', 'tools', name],
    queryFn: ({ signal }) => call<McpTools>(path('mcp-servers', name, 'tools'), { signal }),
    refetchInterval: () => (Date.now() < quickUntil ? quickMs : refreshMs),
  });
  const again = () => {
    setQuickUntil(Date.now() + quickForMs);
    return client.invalidateQueries({ queryKey: ['mcp-servers', 'tools', name] });
  };
  const refresh = useMutation({ mutationFn: () => call(path('mcp-servers', name, 'refresh'), { method: 'POST' }), onSuccess: again });
  const approve = useMutation({ mutationFn: () => call(path('mcp-servers', name, 'approve-tools'), { method: 'POST', body: {} }), onSuccess: again });
  const { data } = found;
  const changed = data?.tools?.filter((tool) => tool.changed) ?? [];
  return (
    <Fieldset legend={t('tools')}>
      <Stack gap="xs">
        {found.isError && <FaultNotice error={found.error} />}
        {data?.reason && (
          <Alert color={data.state === 'unhealthy' ? 'red' : 'orange'} variant="light" role="status" className="anywhere">
            {data.reason}
          </Alert>
        )}
        {data?.faults.map((fault) => (
          <Text key={fault} size="sm" className="anywhere" style={{ color: 'var(--mantine-color-orange-light-color)' }}>
            {t('notOffered', { fault })}
          </Text>
        ))}
        {changed.length > 0 && (
          <Alert color="orange" variant="light" title={t('changedTitle', { count: changed.length })}>
            <Stack gap="xs">
              <Text size="sm">{t(changed.some(({ held }) => held) ? 'changedHeld' : 'changedOffered')}</Text>
              {isAdmin && (
                <Group>
                  <Button size="xs" variant="light" color="orange" loading={approve.isPending} onClick={() => approve.mutate()}>
                    {t('approve')}
                  </Button>
                </Group>
              )}
            </Stack>
          </Alert>
        )}
        {data && <ToolTable tools={data.tools} />}
        {isAdmin && (
          <Group>
            <Button size="xs" variant="light" loading={refresh.isPending} onClick={() => refresh.mutate()}>
              {t('askAgain')}
            </Button>
          </Group>
        )}
        {isAdmin && data?.tools && data.tools.length > 0 && <Trial server={name} tools={data.tools} />}
      </Stack>
    </Fieldset>
  );
}

function ToolTable({ tools }: { tools: readonly McpTool[] | null }) {
  const { t } = useTranslation('mcp-servers');
  if (tools === null || tools.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {t(tools === null ? 'notLoaded' : 'noTools')}
      </Text>
    );
  const total = tools.reduce((sum, { tokens }) => sum + tokens, 0);
  return (
    <>
      <Text size="sm">{t('total', { count: tools.length, tokens: formatNumber(total) })}</Text>
      <ScrollArea.Autosize mah={320} viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': t('tools') }}>
        <Table layout="fixed">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('tool')}</Table.Th>
              <Table.Th w={90} ta="right">
                {t('tokens')}
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {tools.map((tool) => (
              <Table.Tr key={tool.name}>
                <Table.Td className="anywhere">
                  <Group gap={6}>
                    <span className="mono">{tool.name}</span>
                    {tool.changed && (
                      <Badge color="orange" variant="light" tt="none">
                        {t(tool.held ? 'held' : 'changed')}
                      </Badge>
                    )}
                  </Group>
                  <Text size="xs" c="dimmed" lineClamp={2}>
                    {tool.description}
                  </Text>
                  {tool.changed_at !== null && (
                    <Text size="xs" c="dimmed">
                      {t('changedAt', { when: formatTime(tool.changed_at) })}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td ta="right">{formatNumber(tool.tokens)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
    </>
  );
}

function Trial({ server, tools }: { server: string; tools: readonly McpTool[] }) {
  const { t } = useTranslation('mcp-servers');
  const [tool, setTool] = useState<string | null>(null);
  const [text, setText] = useState('{}');
  const run = useMutation({
    mutationFn: () =>
      call<{ ok: boolean; answer: unknown; duration_ms: number }>(path('mcp-servers', server, 'call'), {
        method: 'POST',
        body: { tool, arguments: readArguments(text) },
      }),
  });
  const valid = readArguments(text) !== null;
  return (
    <Fieldset legend={t('trial')}>
      <Stack gap="xs">
        <Select label={t('tool')} description={t('trialHint')} searchable data={tools.map(({ name }) => name)} value={tool} onChange={setTool} />
        <JsonInput
          label={t('arguments')}
          description={t('argumentsHint')}
          autosize
          minRows={2}
          maxRows={10}
          classNames={{ input: 'mono' }}
          value={text}
          onChange={setText}
          error={valid ? undefined : t('notJson')}
        />
        <Group>
          <Button size="xs" variant="light" disabled={tool === null || !valid} loading={run.isPending} onClick={() => run.mutate()}>
            {t('runTool')}
          </Button>
        </Group>
        {run.isError && <FaultNotice error={run.error} />}
        {run.data && (
          <div role="status">
            <Text size="sm">{t(run.data.ok ? 'answered' : 'failed', { ms: Math.round(run.data.duration_ms) })}</Text>
            <Code block mah={260} style={{ overflow: 'auto' }} tabIndex={0} role="region" aria-label={t('answer')}>
              {JSON.stringify(run.data.answer, null, 2).slice(0, maxShown)}
            </Code>
          </div>
        )}
      </Stack>
    </Fieldset>
  );
}

/** null: no JSON object. */
function readArguments(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
