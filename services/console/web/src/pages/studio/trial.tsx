/** The frame of a trial: what is tried beside the body it is tried on, what else it may know, and the button that runs it. */
import { Accordion, Alert, Button, Card, Grid, Group, Text } from '@mantine/core';
import { IconArrowRampRight, IconPlayerPlay } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

interface Props {
  /** Whose script or rules it began with. */
  loaded: string | null;
  subject: ReactNode;
  body: ReactNode;
  /** Folded below both. */
  more: { title: string; content: ReactNode };
  /** Beside the button. */
  foot?: ReactNode;
  onRun: () => void;
  isRunning: boolean;
  canRun: boolean;
}

export function Trial({ loaded, subject, body, more, foot, onRun, isRunning, canRun }: Props) {
  const { t } = useTranslation('studio');
  return (
    <>
      {loaded !== null && (
        <Alert color="blue" variant="light">
          {t('loadedFrom', { name: loaded })}
        </Alert>
      )}
      <Card withBorder>
        <Grid>
          <Grid.Col span={{ base: 12, md: 7 }}>{subject}</Grid.Col>
          <Grid.Col span={{ base: 12, md: 5 }}>{body}</Grid.Col>
        </Grid>
        <Accordion variant="separated" mt="md">
          <Accordion.Item value="more">
            <Accordion.Control>{more.title}</Accordion.Control>
            <Accordion.Panel>{more.content}</Accordion.Panel>
          </Accordion.Item>
        </Accordion>
        <Group justify="flex-end" mt="md">
          {foot}
          <Button onClick={onRun} loading={isRunning} disabled={!canRun} leftSection={<IconPlayerPlay size={16} aria-hidden />}>
            {t('run')}
          </Button>
        </Group>
      </Card>
    </>
  );
}

/** Where the request would go on to. */
export const SentOn = ({ text }: { text: string }) => (
  <Alert color="blue" variant="light" icon={<IconArrowRampRight aria-hidden />}>
    <Text size="sm" className="anywhere">
      {text}
    </Text>
  </Alert>
);
