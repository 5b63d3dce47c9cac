/** The turns of the conversation; what comes from models is text and nothing else. */
import { Alert, Badge, Box, Group, Loader, Paper, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconMessages, IconPlayerStop, IconTool } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '../../components/empty-state.tsx';
import { formatNumber } from '../../components/format.ts';
import type { Turn } from './reply.ts';

export function Conversation({ turns, busy }: { turns: readonly Turn[]; busy: boolean }) {
  const { t } = useTranslation('playground');
  const view = useRef<HTMLDivElement>(null);
  const length = turns.at(-1)?.text.length ?? 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: follows the growing reply
  useEffect(() => void view.current?.scrollTo({ top: view.current.scrollHeight }), [turns.length, length]);
  if (turns.length === 0) return <EmptyState icon={IconMessages} title={t('emptyTitle')} hint={t('emptyHint')} />;
  return (
    // Its own scroll: what stands below keeps its place while a reply grows.
    <Stack ref={view} gap="md" role="log" aria-label={t('conversation')} aria-busy={busy} mah="60vh" tabIndex={0} style={{ overflowY: 'auto' }}>
      {turns.map((turn, index) => (
        <TurnView key={turn.id} turn={turn} busy={busy && index === turns.length - 1} />
      ))}
    </Stack>
  );
}

function TurnView({ turn, busy }: { turn: Turn; busy: boolean }) {
  const { t } = useTranslation('playground');
  const isUser = turn.role === 'user';
  const isEmpty = turn.text === '' && turn.thinking === '' && turn.tools.length === 0;
  return (
    <Box>
      <Text size="xs" fw={600} c="dimmed" mb={2}>
        {t(isUser ? 'you' : 'model')}
      </Text>
      <Paper withBorder p="sm" bg={isUser ? 'light-dark(var(--mantine-color-gray-0), var(--mantine-color-dark-6))' : undefined}>
        {turn.images.map(({ mediaType, base64 }) => (
          <img
            key={base64.slice(0, 64)}
            src={`data:${mediaType};base64,${base64}`}
            alt={t('image')}
            style={{ maxWidth: 220, maxHeight: 160, display: 'block' }}
          />
        ))}
        {turn.thinking && (
          <Text size="sm" c="dimmed" className="spoken" mb="xs">
            {turn.thinking}
          </Text>
        )}
        {turn.text && (
          <Text size="sm" className="spoken" data-testid={isUser ? undefined : 'reply'}>
            {turn.text}
          </Text>
        )}
        {turn.tools.map((tool) => (
          <Group key={tool.id} gap="xs" mt="xs" align="flex-start" wrap="nowrap">
            <Badge leftSection={<IconTool size={12} aria-hidden />} variant="light" tt="none">
              {tool.name}
            </Badge>
            <Text size="xs" className="mono anywhere">
              {tool.arguments}
            </Text>
          </Group>
        ))}
        {busy && isEmpty && <Loader size="xs" type="dots" aria-label={t('waiting')} />}
        {turn.error && (
          <Alert color="red" icon={<IconAlertTriangle aria-hidden />} role="alert" p="xs">
            <Text size="sm" className="anywhere">
              {turn.error}
            </Text>
          </Alert>
        )}
      </Paper>
      {!isUser && !busy && <TurnFigures turn={turn} />}
    </Box>
  );
}

function TurnFigures({ turn }: { turn: Turn }) {
  const { t } = useTranslation('playground');
  return (
    <Group gap="sm" mt={2}>
      {turn.stopped && (
        <Badge size="sm" color="gray" variant="light" leftSection={<IconPlayerStop size={11} aria-hidden />}>
          {t('stopped')}
        </Badge>
      )}
      {turn.finish && (
        <Text size="xs" c="dimmed" className="mono">
          {turn.finish}
        </Text>
      )}
      {turn.usage.input !== undefined && (
        <Text size="xs" c="dimmed">
          {t('tokens', { input: formatNumber(turn.usage.input), output: formatNumber(turn.usage.output ?? 0) })}
        </Text>
      )}
    </Group>
  );
}
