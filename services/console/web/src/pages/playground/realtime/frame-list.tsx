/** The frames of a session, the newest first, each to be looked into. */
import { Badge, Box, Group, Stack, Table, Text, UnstyledButton } from '@mantine/core';
import { IconArrowsExchange } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '../../../components/empty-state.tsx';
import { formatBytes, formatDuration } from '../../../components/format.ts';
import { Snippet } from '../../../components/snippet.tsx';
import type { Frame } from './session.ts';

const longText = 400;
/** Sound would hide the rest. */
const shorten = (_name: string, value: unknown) => (typeof value === 'string' && value.length > longText ? `${value.slice(0, 60)}… (${value.length})` : value);

export function FrameList({ frames }: { frames: readonly Frame[] }) {
  const { t } = useTranslation('playground');
  const [opened, setOpened] = useState<number | null>(null);
  const shown = frames.find(({ number }) => number === opened);
  if (frames.length === 0) return <EmptyState icon={IconArrowsExchange} title={t('realtime.noFrames')} hint={t('realtime.noFramesHint')} />;
  return (
    <Stack gap="sm">
      <Box style={{ maxHeight: 420, overflow: 'auto' }} tabIndex={0} role="region" aria-label={t('realtime.frames')}>
        <Table aria-label={t('realtime.frames')} fz="sm" stickyHeader>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('realtime.time')}</Table.Th>
              <Table.Th>{t('realtime.event')}</Table.Th>
              <Table.Th className="numeric">{t('realtime.size')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {frames.toReversed().map((frame) => (
              <Table.Tr key={frame.number}>
                <Table.Td>{formatDuration(frame.at)}</Table.Td>
                <Table.Td>
                  <UnstyledButton fz="sm" onClick={() => setOpened(frame.number)} aria-pressed={frame.number === opened}>
                    <Group gap={6} wrap="nowrap">
                      <Badge variant="light" tt="none" color={frame.from === 'client' ? 'blue' : frame.type === 'error' ? 'red' : 'gray'}>
                        {t(`realtime.from.${frame.from}`)}
                      </Badge>
                      <span className="mono anywhere">{frame.type}</span>
                    </Group>
                  </UnstyledButton>
                </Table.Td>
                <Table.Td className="numeric">{formatBytes(frame.bytes)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Box>
      {shown ? (
        <Snippet title={shown.type} text={JSON.stringify(shown.event, shorten, 2)} copy={JSON.stringify(shown.event, null, 2)} maxHeight={300} />
      ) : (
        <Text size="sm" c="dimmed">
          {t('realtime.openOne')}
        </Text>
      )}
    </Stack>
  );
}
