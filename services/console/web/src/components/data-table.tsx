/** A table over one page of a list: search, paging, the empty and the failed state. Searching and sorting are the server's work. */
import { ActionIcon, Card, Checkbox, Group, LoadingOverlay, Table, Text, UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconChevronLeft, IconChevronRight, IconSearch } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import type { Page } from '../api/resources.ts';
import { FaultNotice } from './fault-notice.tsx';
import { SearchInput } from './search-input.tsx';

/** A column of a table. */
export interface Column<T> {
  id: string;
  title: string;
  cell: (row: T) => ReactNode;
  /** The API's name for sorting by this column. */
  sort?: string;
  numeric?: boolean;
  /** Left out on narrow screens. */
  wide?: boolean;
}

/** Page, search text and order of a list. */
export interface ListState {
  page: number;
  q: string;
  sort: string;
}

interface Props<T> {
  query: UseQueryResult<Page<T>>;
  columns: readonly Column<T>[];
  rowKey: (row: T) => string;
  /** Name of the row for screen readers on the button that opens it. */
  onOpen?: (row: T) => void;
  state: ListState;
  onState: (state: ListState, options?: { replace?: boolean }) => void;
  /** Instead of the plain sentence when there is nothing at all; left out while a filter may be the reason. */
  empty?: ReactNode;
  filters?: ReactNode;
  caption: string;
  /** Rows can be chosen for something that is done to all of them. */
  selection?: Selection<T>;
}

/** The rows that are chosen, also those of other pages. */
export interface Selection<T> {
  has: (row: T) => boolean;
  /** Chooses the rows, or lets them go. */
  set: (rows: readonly T[], chosen: boolean) => void;
}

export function DataTable<T>({ query, columns, rowKey, onOpen, state, onState, empty, filters, caption, selection }: Props<T>) {
  const { t } = useTranslation();
  useLastPage(query, state, onState);
  if (query.isError && !query.data) return <FaultNotice error={query.error} onRetry={() => query.refetch()} />;
  const rows = query.data?.items ?? [];
  const nothing = !query.isPending && rows.length === 0;
  if (nothing && state.q === '' && state.page === 1 && empty) return <Card withBorder>{empty}</Card>;
  return (
    <Card withBorder padding={0} pos="relative">
      <Group p="sm" gap="sm">
        <SearchInput
          flex="1 1 220px"
          maw={360}
          leftSection={<IconSearch size={16} aria-hidden />}
          placeholder={t('actions.search')}
          aria-label={t('actions.search')}
          value={state.q}
          onSearch={(q) => onState({ ...state, q, page: 1 })}
        />
        {filters}
      </Group>
      <Table.ScrollContainer minWidth={520}>
        <LoadingOverlay visible={query.isPending} zIndex={1} />
        <Table aria-label={caption}>
          <Table.Thead>
            <Table.Tr>
              {selection && (
                <Table.Th w={44} className="choice">
                  <Choose label={t('table.chooseAll')} rows={rows} selection={selection} />
                </Table.Th>
              )}
              {columns.map((column) => (
                <Header key={column.id} column={column} state={state} onState={onState} />
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={rowKey(row)} className={onOpen && 'clickable-row'} onClick={onOpen && (() => onOpen(row))}>
                {selection && (
                  <Table.Td className="choice" onClick={(event) => event.stopPropagation()}>
                    <Choose label={t('table.choose', { name: rowKey(row) })} rows={[row]} selection={selection} />
                  </Table.Td>
                )}
                {columns.map((column) => (
                  <Table.Td
                    key={column.id}
                    className={[column.numeric && 'numeric', column.wide && 'wide'].filter(Boolean).join(' ')}
                    visibleFrom={column.wide ? 'md' : undefined}
                  >
                    {column.cell(row)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
            {nothing && (
              <Table.Tr>
                <Table.Td colSpan={columns.length + (selection ? 1 : 0)}>
                  <Text c="dimmed" ta="center" py="lg">
                    {state.q ? t('table.noMatch', { q: state.q }) : t(empty ? 'table.empty' : 'table.noneMatches')}
                  </Text>
                </Table.Td>
              </Table.Tr>
            )}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Pager page={query.data} state={state} onState={onState} />
    </Card>
  );
}

/** A page behind the last one, as an address may name it or as it becomes when its rows are deleted, gives way to the last one. */
function useLastPage(query: UseQueryResult<Page<unknown>>, state: ListState, onState: Stateful['onState']): void {
  const { data, isPlaceholderData } = query;
  const last = data && !isPlaceholderData ? pagesOf(data) : null;
  const isBehind = last !== null && state.page > last;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each answer that is of no page
  useEffect(() => {
    if (isBehind) onState({ ...state, page: last }, { replace: true });
  }, [isBehind, last]);
}

/** Of one row, or of all that are shown. */
function Choose<T>({ label, rows, selection }: { label: string; rows: readonly T[]; selection: Selection<T> }) {
  const chosen = rows.filter(selection.has).length;
  return (
    <Checkbox
      aria-label={label}
      checked={rows.length > 0 && chosen === rows.length}
      indeterminate={chosen > 0 && chosen < rows.length}
      onChange={(event) => selection.set(rows, event.currentTarget.checked)}
    />
  );
}

const pagesOf = ({ total, page_size }: Page<unknown>): number => Math.max(1, Math.ceil(total / page_size));

type Stateful = Pick<Props<never>, 'state' | 'onState'>;

function Header<T>({ column, state, onState }: { column: Column<T> } & Stateful) {
  const { sort } = column;
  const direction = sort === undefined ? 'none' : state.sort === sort ? 'ascending' : state.sort === `-${sort}` ? 'descending' : 'none';
  const next = direction === 'ascending' ? `-${sort}` : (sort ?? '');
  return (
    <Table.Th
      className={column.numeric ? 'numeric' : undefined}
      visibleFrom={column.wide ? 'md' : undefined}
      aria-sort={sort === undefined ? undefined : direction}
    >
      {sort === undefined ? (
        column.title
      ) : (
        <UnstyledButton fz="inherit" fw="inherit" onClick={() => onState({ ...state, sort: next, page: 1 })}>
          <Group gap={4} wrap="nowrap">
            {column.title}
            {direction === 'ascending' && <IconArrowUp size={14} aria-hidden />}
            {direction === 'descending' && <IconArrowDown size={14} aria-hidden />}
          </Group>
        </UnstyledButton>
      )}
    </Table.Th>
  );
}

function Pager({ page, state, onState }: { page: Page<unknown> | undefined } & Stateful) {
  const { t } = useTranslation();
  if (!page) return null;
  const pages = pagesOf(page);
  return (
    <Group justify="space-between" p="sm">
      <Text size="sm" c="dimmed" aria-live="polite">
        {t('table.count', { count: page.total })}
      </Text>
      {pages > 1 && (
        <Group gap="xs">
          <ActionIcon aria-label={t('table.previous')} disabled={state.page <= 1} onClick={() => onState({ ...state, page: state.page - 1 })}>
            <IconChevronLeft size={18} aria-hidden />
          </ActionIcon>
          <Text size="sm">{t('table.page', { page: state.page, pages })}</Text>
          <ActionIcon aria-label={t('table.next')} disabled={state.page >= pages} onClick={() => onState({ ...state, page: state.page + 1 })}>
            <IconChevronRight size={18} aria-hidden />
          </ActionIcon>
        </Group>
      )}
    </Group>
  );
}
