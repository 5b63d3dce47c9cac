/** Who did what, when and from where. */

import { Badge, Button, Card, Code, Group, Loader, Select, Table, Text } from '@mantine/core';
import type { AuditRecord } from '@model-gateway/console/answers';
import { IconShieldCheck } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { wholeConfiguration } from '../../api/changes.ts';
import { call } from '../../api/client.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatTime } from '../../components/format.ts';
import { NameLink, NameOf } from '../../components/name-link.tsx';
import { Page } from '../../components/page.tsx';
import { SearchInput } from '../../components/search-input.tsx';
import { useAddress, useFilter } from '../../components/use-address-state.ts';
import { KeyLink } from '../access-keys/find-key.tsx';
import { actions, actionsOf, entityTypes, views, windows } from './audit-lists.ts';
import { type AuditLine, accessKeyOf, foldRecords } from './fold-records.ts';

export function AuditPage() {
  const { t } = useTranslation('audit');
  const { search, change } = useAddress();
  const [action, setAction] = useFilter('action');
  const [entityType, setEntityType] = useFilter('entity_type');
  const [chosen, setWindow] = useFilter('window');
  const [chosenView, setView] = useFilter('view');
  const window = chosen !== null && Object.hasOwn(windows, chosen) ? chosen : 'day';
  const actor = typeof search['actor'] === 'object' ? '' : String(search['actor'] ?? '');
  const view = views.find((one) => one === chosenView) ?? 'changes';
  const query = { actor, action: action ?? actionsOf[view], entity_type: entityType };
  const list = useInfiniteQuery({
    queryKey: ['audit', window, query],
    queryFn: ({ pageParam, signal }) =>
      call<{ items: AuditRecord[]; next_cursor: string | null }>('audit-logs', {
        query: { ...query, from: Date.now() - (windows[window] ?? windows['day']!), cursor: pageParam },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page title={t('title')} hint={t('hint')}>
      <Group align="flex-end" gap="sm">
        <Select
          label={t('view')}
          allowDeselect={false}
          data={views.map((value) => ({ value, label: t(`views.${value}`) }))}
          value={view}
          onChange={(value) => setView(value === 'changes' ? null : value)}
        />
        <SearchInput label={t('actor')} value={actor} onSearch={(next) => change({ actor: next || undefined }, { replace: actor !== '' })} />
        <Select
          label={t('action')}
          clearable
          searchable
          data={actions.map((value) => ({ value, label: t(`history:actions.${value}`, value) }))}
          value={action}
          onChange={setAction}
        />
        <Select
          label={t('entityType')}
          clearable
          searchable
          data={entityTypes.map((value) => ({ value, label: t(`history:entities.${value}`, value) }))}
          value={entityType}
          onChange={setEntityType}
        />
        <Select
          label={t('window')}
          allowDeselect={false}
          data={Object.keys(windows).map((value) => ({ value, label: t(`windows.${value}`) }))}
          value={window}
          onChange={(value) => setWindow(value === 'day' ? null : value)}
        />
      </Group>
      {list.isError && !list.data && <FaultNotice error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <Loader />}
      {list.data && (
        <Card withBorder padding={0}>
          {items.length === 0 ? <EmptyState icon={IconShieldCheck} title={t('emptyTitle')} hint={t('emptyHint')} /> : <Records items={foldRecords(items)} />}
        </Card>
      )}
      {list.hasNextPage && (
        <Group justify="center">
          <Button variant="default" loading={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
            {t('history:older')}
          </Button>
        </Group>
      )}
    </Page>
  );
}

/** Who did it: of a caller the name of the key, which leads to where the key was used. */
function Actor({ record }: { record: AuditRecord }) {
  const name = record.actor.startsWith('api_key:') ? accessKeyOf(record) : null;
  if (name === null) return record.actor;
  return (
    <>
      <KeyLink name={name} />{' '}
      <Text span size="xs" c="dimmed" className="mono">
        {record.actor.slice('api_key:'.length)}
      </Text>
    </>
  );
}

function Records({ items }: { items: readonly AuditLine[] }) {
  const { t } = useTranslation('audit');
  const [open, setOpen] = useState<string | null>(null);
  return (
    <Table.ScrollContainer minWidth={720}>
      <Table aria-label={t('title')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('when')}</Table.Th>
            <Table.Th>{t('actor')}</Table.Th>
            <Table.Th>{t('action')}</Table.Th>
            <Table.Th>{t('entity')}</Table.Th>
            <Table.Th>{t('from')}</Table.Th>
            <Table.Th aria-label={t('details')} />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map(({ count, firstAt, ...record }) => {
            const { id, occurred_at, action, entity_type, entity_id, ip_address, request_id, diff } = record;
            return (
              <Fragment key={id}>
                <Table.Tr>
                  <Table.Td>{formatTime(occurred_at)}</Table.Td>
                  <Table.Td className="anywhere">
                    <Actor record={record} />
                  </Table.Td>
                  <Table.Td>
                    <Badge variant="light" color={/failure|violation/.test(action) ? 'red' : 'gray'} tt="none">
                      {t(`history:actions.${action}`, action)}
                    </Badge>
                    {count > 1 && <Text size="xs">{t('folded', { count, when: formatTime(firstAt) })}</Text>}
                  </Table.Td>
                  <Table.Td className="anywhere">
                    <Text span size="sm" c="dimmed">
                      {t(`history:entities.${entity_type}`, entity_type)}
                    </Text>{' '}
                    {entity_type === 'access_key' && entity_id !== '' ? (
                      <KeyLink name={entity_id} />
                    ) : (
                      entity_type !== wholeConfiguration && <NameOf word={entity_type} name={entity_id} />
                    )}
                  </Table.Td>
                  <Table.Td className="mono">{ip_address ?? '–'}</Table.Td>
                  <Table.Td>
                    {(diff || request_id) && (
                      <Button size="compact-xs" variant="subtle" aria-expanded={open === id} onClick={() => setOpen(open === id ? null : id)}>
                        {t('details')}
                      </Button>
                    )}
                  </Table.Td>
                </Table.Tr>
                {open === id && (
                  <Table.Tr>
                    <Table.Td colSpan={6}>
                      {request_id && (
                        <Text size="sm">
                          {t('requestId')} <NameLink kind="request" name={request_id} className="mono" />
                        </Text>
                      )}
                      {diff && (
                        <Code block className="anywhere">
                          {JSON.stringify(diff, null, 2)}
                        </Code>
                      )}
                    </Table.Td>
                  </Table.Tr>
                )}
              </Fragment>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
