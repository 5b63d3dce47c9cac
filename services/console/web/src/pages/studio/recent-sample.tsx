/** Bodies of recent requests to try things on, from key groups that store them. */
import { Select, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { BodyEntry } from '@model-gateway/contracts';
import { useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useReadBodies, useRecentBodies } from '../../api/bodies.ts';
import { formatTime } from '../../components/format.ts';
import { useProtocolName } from '../../components/protocol.tsx';
import { useIsAdmin } from '../../session/use-me.ts';
import { print, readObject } from './body-text.ts';

/** A stored body that was chosen as the sample, with the protocol it is in. */
export interface RecentBody {
  text: string;
  protocol: string;
}

interface Props {
  /** Replies are tried whole: streams pass scripts by. */
  part: 'request' | 'response';
  onChoose: (body: RecentBody) => void;
}

/** Chosen from the list, or named by `?request=` in the address. */
export function RecentSample({ part, onChoose }: Props) {
  const { t } = useTranslation('studio');
  const isAdmin = useIsAdmin();
  const nameOf = useProtocolName();
  const readBodies = useReadBodies();
  const recent = useRecentBodies(isAdmin);
  const [chosen, setChosen] = useState<string | null>(null);
  const { request: asked } = useSearch({ strict: false }) as { request?: unknown };
  const choose = async (id: string) => {
    setChosen(id);
    try {
      const bodies = await readBodies(id);
      const { text, truncated } = bodies[part];
      const value = readObject(text);
      if (truncated) notifications.show({ message: t('recentCut'), color: 'orange' });
      onChoose({ text: value ? print(value) : text, protocol: bodies.client_protocol });
    } catch (error) {
      setChosen(null);
      notifications.show({ message: error instanceof Error ? error.message : String(error), color: 'red' });
    }
  };
  // Once for each address: a look at a body is recorded.
  const taken = useRef<unknown>(undefined);
  useEffect(() => {
    if (!isAdmin || typeof asked !== 'string' || taken.current === asked) return;
    taken.current = asked;
    void choose(asked);
  });
  if (!isAdmin) return null;
  const usable = (recent.data ?? []).filter(({ stream, status }) => part === 'request' || (!stream && status < 400));
  if (recent.isSuccess && usable.length === 0 && chosen === null)
    return (
      <Text size="sm" c="dimmed">
        {t('recentNone')}
      </Text>
    );
  const data = usable.map((entry) => ({ value: entry.id, label: labelOf(entry, nameOf) }));
  if (chosen !== null && !usable.some(({ id }) => id === chosen)) data.unshift({ value: chosen, label: chosen });
  return (
    <Select
      label={t('recent')}
      description={t('recentHint')}
      placeholder="–"
      searchable
      allowDeselect={false}
      data={data}
      value={chosen}
      onChange={(id) => id && void choose(id)}
    />
  );
}

const labelOf = ({ started_at, model, client_protocol, access_key }: BodyEntry, nameOf: (protocol: string) => string): string =>
  [formatTime(started_at), model ?? '–', nameOf(client_protocol), access_key].join(' · ');
