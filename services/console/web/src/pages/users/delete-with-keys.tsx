/** A user's deletion leaves the access keys at work: the question says so, and offers to disable them. */
import { Checkbox, Stack, Text } from '@mantine/core';
import type { QueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { type Page, useList } from '../../api/resources.ts';
import type { Deletion } from '../../components/resource-drawer.tsx';

interface Key {
  name: string;
  enabled: boolean;
  etag: string;
}

/** All that one change may hold. */
const pageSize = 1_000;
const keysOf = (owner: string) => ({ owner, page_size: pageSize });

/** `owners`: as `owner` of a key names the user. */
export function deletionWithKeys(client: QueryClient, owners: readonly string[]): Deletion {
  const chosen = new Set<string>();
  return {
    hint: <Question owners={owners} onChoose={(owner, isChosen) => (isChosen ? chosen.add(owner) : chosen.delete(owner))} />,
    async before() {
      for (const owner of chosen) await disableKeys(owner);
      await client.invalidateQueries({ queryKey: ['access-keys'] });
    },
  };
}

interface QuestionProps {
  owners: readonly string[];
  onChoose: (owner: string, isChosen: boolean) => void;
}

function Question({ owners, onChoose }: QuestionProps) {
  const { t } = useTranslation();
  return (
    <Stack gap="sm">
      <Text size="sm">{t('confirmDelete.hint')}</Text>
      {owners.map((owner) => (
        <KeysLeft key={owner} owner={owner} onChoose={(isChosen) => onChoose(owner, isChosen)} />
      ))}
    </Stack>
  );
}

function KeysLeft({ owner, onChoose }: { owner: string; onChoose: (isChosen: boolean) => void }) {
  const { t } = useTranslation('users');
  const list = useList<Key>('access-keys', keysOf(owner));
  const count = (list.data?.items ?? []).filter(({ enabled }) => enabled).length;
  if (count === 0) return null;
  return (
    <Checkbox
      className="anywhere"
      label={t('disableKeys', { count, owner })}
      description={t('disableKeysHint', { count })}
      onChange={({ currentTarget }) => onChoose(currentTarget.checked)}
    />
  );
}

/** As they are now: somebody may have changed one while the question was open. */
async function disableKeys(owner: string): Promise<void> {
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { items, total } = await call<Page<Key>>('access-keys', { query: { ...keysOf(owner), page } });
    pages = Math.ceil(total / pageSize);
    const entries = items
      .filter(({ enabled }) => enabled)
      .map(({ name, etag }) => ({ action: 'update', resource: 'access-keys', name, etag, body: { enabled: false } }));
    if (entries.length > 0) await call('batch', { method: 'POST', body: { entries } });
  }
}
