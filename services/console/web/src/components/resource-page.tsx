/** The page of one kind of resource: its list, and the drawer that the list and the button open. */
import { Button } from '@mantine/core';
import { IconPlus, type TablerIcon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type ResourcePath, useList } from '../api/resources.ts';
import { useIsAdmin } from '../session/use-me.ts';
import { type BulkActions, BulkBar, type Listed, useSelection } from './bulk-bar.tsx';
import { type Column, DataTable } from './data-table.tsx';
import { EmptyState } from './empty-state.tsx';
import { OpenButton } from './open-button.tsx';
import { Page } from './page.tsx';
import { BudgetCell, type SpendDimension, SpentCell, useSpend } from './spend.tsx';
import { useListState } from './use-address-state.ts';
import { useOpened } from './use-opened.ts';

interface Props<T> {
  resource: ResourcePath;
  icon: TablerIcon;
  /** Its sentences: title, hint, create, emptyTitle, emptyHint. */
  t: (key: string) => string;
  /** Follow the name, which opens the drawer. */
  columns: readonly Column<T>[];
  filters?: ReactNode;
  /** Filters as the API names them; `useFilter` keeps them in the address. */
  query?: Record<string, string | undefined>;
  drawer: (name: string | null, close: () => void) => ReactNode;
  /** Money is counted by it: columns for what was spent, and of what. */
  spend?: SpendDimension;
  /** What can be done to several at once, beside turning them on and off; absent: nothing. */
  bulk?: (actions: BulkActions<T>) => ReactNode;
  children?: ReactNode;
}

export function ResourcePage<T extends Listed>({ resource, icon, t, columns, filters, query = {}, drawer, spend, bulk, children }: Props<T>) {
  const { t: common } = useTranslation();
  const isAdmin = useIsAdmin();
  const [state, setState] = useListState();
  const edited = useOpened('edit');
  const created = useOpened('create');
  const isFiltered = Object.values(query).some((value) => value !== undefined);
  const selection = useSelection<T>();
  const canChoose = isAdmin && bulk !== undefined;
  const list = useList<T>(resource, { page: state.page, q: state.q, sort: state.sort, ...query });
  const spent = useSpend(
    spend,
    (list.data?.items ?? []).map(({ name }) => name),
  );
  const money: Column<T>[] = spend
    ? [
        { id: 'spent', title: common('table.spent'), numeric: true, wide: true, cell: ({ name }) => <SpentCell spend={spent.get(name)} /> },
        ...(spend === 'access_key' || spend === 'key_group'
          ? [{ id: 'budget', title: common('table.budget'), wide: true, cell: ({ name }: T) => <BudgetCell spend={spent.get(name)} /> }]
          : []),
      ]
    : [];
  const create = isAdmin && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => created.open('new')}>
      {t('create')}
    </Button>
  );
  const first: Column<T> = {
    id: 'name',
    title: t('name'),
    sort: 'name',
    cell: ({ name }) => <OpenButton onOpen={() => edited.open(name)}>{name}</OpenButton>,
  };
  return (
    <Page title={t('title')} hint={t('hint')} actions={create}>
      <DataTable
        caption={t('title')}
        query={list}
        columns={[first, ...columns, ...money]}
        rowKey={({ name }) => name}
        onOpen={({ name }) => edited.open(name)}
        state={state}
        onState={setState}
        filters={filters}
        {...(canChoose && { selection })}
        empty={!isFiltered && <EmptyState icon={icon} title={t('emptyTitle')} hint={t('emptyHint')} action={create} />}
      />
      {canChoose && <BulkBar resource={resource} selection={selection} more={bulk} />}
      {children}
      {edited.value !== null && <div key={edited.value}>{drawer(edited.value, edited.close)}</div>}
      {created.value !== null && isAdmin && drawer(null, created.close)}
    </Page>
  );
}
