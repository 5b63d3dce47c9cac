/** What the caller wrote and was answered, where its key group keeps that: shown as text, once an admin asks for it. */
import { Badge, Button, Group, Loader, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import type { RequestBodies, StoredText } from '@model-gateway/contracts';
import { IconEye } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useHasBodies } from '../../api/bodies.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatBytes, formatTime } from '../../components/format.ts';
import { Snippet } from '../../components/snippet.tsx';
import { useIsAdmin } from '../../session/use-me.ts';
import { isEventStream, printBody, readEvents } from './body-view.ts';

interface Props {
  id: string;
  /** undefined: not asked for yet. */
  bodies: RequestBodies | undefined;
  error: Error | null;
  loading: boolean;
  onShow: () => void;
}

export function RequestBodiesSection({ id, bodies, error, loading, onShow }: Props) {
  const { t } = useTranslation('logs');
  const isAdmin = useIsAdmin();
  const has = useHasBodies(id, isAdmin && !bodies);
  return (
    <section aria-label={t('bodies.title')}>
      <Title order={3} mb="xs">
        {t('bodies.title')}
      </Title>
      {!isAdmin && (
        <Text size="sm" c="dimmed">
          {t('bodies.adminsOnly')}
        </Text>
      )}
      {isAdmin && !bodies && has.isPending && <Loader size="sm" />}
      {isAdmin && !bodies && (has.data === false || has.isError) && (
        <Text size="sm" c="dimmed">
          {t('bodies.none')}
        </Text>
      )}
      {isAdmin && !bodies && has.data && (
        <Group gap="sm">
          <Button variant="light" leftSection={<IconEye size={16} aria-hidden />} loading={loading} onClick={onShow}>
            {t('bodies.show')}
          </Button>
          <Text size="sm" c="dimmed">
            {t('bodies.stored')}
          </Text>
        </Group>
      )}
      {error && <FaultNotice error={error} onRetry={onShow} />}
      {bodies && (
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            {t('bodies.showHint', { when: formatTime(bodies.expires_at) })}
          </Text>
          <Body title={t('bodies.request')} body={bodies.request} />
          <Response body={bodies.response} />
        </Stack>
      )}
    </section>
  );
}

function Body({ title, body }: { title: string; body: StoredText }) {
  const { t } = useTranslation('logs');
  return (
    <div>
      <Cut body={body} />
      <Snippet title={title} text={printBody(body.text) || t('bodies.empty')} copy={body.text} />
    </div>
  );
}

function Cut({ body }: { body: StoredText }) {
  const { t } = useTranslation('logs');
  if (!body.truncated) return null;
  return (
    <Badge color="orange" variant="light" tt="none" mb={4}>
      {t('bodies.cut', { shown: formatBytes(new Blob([body.text]).size), whole: formatBytes(body.bytes) })}
    </Badge>
  );
}

/** More would take the browser seconds to lay out. */
const maxEvents = 300;

function Response({ body }: { body: StoredText }) {
  const { t } = useTranslation('logs');
  const [form, setForm] = useState('events');
  if (!isEventStream(body.text)) return <Body title={t('bodies.response')} body={body} />;
  const events = readEvents(body.text);
  const shown = events.slice(0, maxEvents).map(({ event, data }) => `${event ?? t('bodies.event')}\n${printBody(data)}`);
  if (events.length > maxEvents) shown.push(t('bodies.moreEvents', { count: events.length - maxEvents }));
  return (
    <div>
      <Group gap="sm" mb={4}>
        <SegmentedControl
          size="xs"
          aria-label={t('bodies.form')}
          value={form}
          onChange={setForm}
          data={[
            { value: 'events', label: t('bodies.events') },
            { value: 'raw', label: t('bodies.raw') },
          ]}
        />
        <Cut body={body} />
      </Group>
      <Snippet title={t('bodies.response')} text={form === 'raw' ? body.text : shown.join('\n\n')} copy={body.text} />
    </div>
  );
}
