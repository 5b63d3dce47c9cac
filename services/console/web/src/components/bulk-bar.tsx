/** What is done to the chosen rows of a list: all of it in one commit, with a record in the audit log for each. */
import { Button, Group, Paper, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconPlayerPause, IconPlayerPlay, IconX } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { ApiProblem } from '../api/problem.ts';
import type { ResourcePath } from '../api/resources.ts';
import { ask } from './ask.ts';
import type { Selection } from './data-table.tsx';
import { formatNumber } from './format.ts';

/** Rows as lists give them. */
export interface Listed {
  name: string;
  enabled?: boolean;
  etag?: string;
}

interface Chosen<T> extends Selection<T> {
  rows: readonly T[];
  clear: () => void;
}

/** What an action on several rows may use. */
export interface BulkActions<T> {
  rows: readonly T[];
  busy: boolean;
  /** Changes each row by what is made of it; a row for which that is null stays. */
  change: (bodyOf: (row: T) => Record<string, unknown> | null) => void;
}

/** As many as one commit takes. */
const maxChosen = 1_000;

export function useSelection<T extends Listed>(): Chosen<T> {
  const [chosen, setChosen] = useState<ReadonlyMap<string, T>>(new Map());
  return {
    rows: [...chosen.values()],
    has: ({ name }) => chosen.has(name),
    set: (rows, isChosen) =>
      setChosen((before) => {
        const next = new Map(before);
        for (const row of rows) {
          if (!isChosen) next.delete(row.name);
          else if (next.size < maxChosen) next.set(row.name, row);
        }
        return next;
      }),
    clear: () => setChosen(new Map()),
  };
}

interface Props<T> {
  resource: ResourcePath;
  selection: Chosen<T>;
  more: (actions: BulkActions<T>) => ReactNode;
}

export function BulkBar<T extends Listed>({ resource, selection, more }: Props<T>) {
  const { t } = useTranslation('bulk');
  const { t: common } = useTranslation();
  const client = useQueryClient();
  const { rows, clear } = selection;
  const send = useMutation({
    mutationFn: (entries: readonly object[]) => call('batch', { method: 'POST', body: { entries } }),
    onSuccess: (_answer, entries) => {
      clear();
      notifications.show({ message: t('done', { count: entries.length, number: formatNumber(entries.length) }), color: 'green' });
    },
    // All or nothing: one that somebody changed meanwhile is named, and all are read again.
    onError: (error) => notifications.show({ title: t('failed'), message: faultOf(error, rows), color: 'red', autoClose: false }),
    onSettled: () => client.invalidateQueries({ queryKey: [resource] }),
  });
  const change: BulkActions<T>['change'] = (bodyOf) => {
    const entries = rows.flatMap((row) => {
      const body = bodyOf(row);
      return body === null ? [] : [{ action: 'update', resource, name: row.name, ...(row.etag !== undefined && { etag: row.etag }), body }];
    });
    if (entries.length > 0) send.mutate(entries);
    else notifications.show({ message: t('nothing'), color: 'gray' });
  };
  if (rows.length === 0) return null;
  const turn = (enabled: boolean) => change((row) => (row.enabled === enabled ? null : { enabled }));
  const onDisable = () =>
    ask({
      title: t('disableTitle', { count: rows.length, number: formatNumber(rows.length) }),
      children: <Text size="sm">{t('disableHint')}</Text>,
      labels: { confirm: t('disable'), cancel: common('actions.cancel') },
      confirmProps: { color: 'red.9' },
      onConfirm: () => turn(false),
    });
  return (
    <Paper withBorder shadow="md" p="sm" pos="sticky" bottom={12} component="section" aria-label={t('title')} style={{ zIndex: 2 }}>
      <Group gap="sm">
        <Text size="sm" fw={600} role="status">
          {t('chosen', { count: rows.length, number: formatNumber(rows.length) })}
        </Text>
        <Button size="compact-sm" variant="default" leftSection={<IconPlayerPause size={14} aria-hidden />} loading={send.isPending} onClick={onDisable}>
          {t('disable')}
        </Button>
        <Button size="compact-sm" variant="default" leftSection={<IconPlayerPlay size={14} aria-hidden />} loading={send.isPending} onClick={() => turn(true)}>
          {t('enable')}
        </Button>
        {more({ rows, busy: send.isPending, change })}
        <Button size="compact-sm" variant="subtle" leftSection={<IconX size={14} aria-hidden />} onClick={clear}>
          {t('clear')}
        </Button>
      </Group>
    </Paper>
  );
}

/** Which of them stood in the way: faults name entries by their place. */
function faultOf(error: Error, rows: readonly Listed[]): string {
  if (!(error instanceof ApiProblem)) return error.message;
  const place = /^entries\.(\d+)/.exec(error.details[0]?.field ?? error.message)?.[1];
  const name = place === undefined ? undefined : rows[Number(place)]?.name;
  const said = error.message.replace(/^entries\.\d+: /, '');
  const details = error.details.map(({ message }) => message).filter((message) => message !== said);
  return [name, said, ...details.slice(0, 3)].filter((text) => text !== undefined).join(' · ');
}
