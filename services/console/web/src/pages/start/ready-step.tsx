/** The teams' keys once more, and what to paste into a client. */

import { Button, Group, Stack, Text } from '@mantine/core';
import { findClient } from '@model-gateway/client-setup';
import { IconMessages } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Snippet } from '../../components/snippet.tsx';
import { ClientPicker } from '../clients/client-picker.tsx';
import { ClientSteps } from '../clients/client-steps.tsx';
import type { MadeTeam } from './teams-step.tsx';

export function ReadyStep({ teams, model }: { teams: readonly MadeTeam[]; model: string }) {
  const accessKey = teams[0]?.key ?? '';
  const { t } = useTranslation('start');
  const [id, setId] = useState('curl-chat');
  const client = findClient(id);
  return (
    <Stack mt="md">
      <Text>{t('ready.hint')}</Text>
      {teams.map(({ name, key }) => (
        <Snippet key={name} title={t('ready.key', { team: name })} text={key} />
      ))}
      <ClientPicker compact value={id} onChange={setId} />
      {client && <ClientSteps client={client} facts={{ baseUrl: location.origin, key: accessKey, model }} />}
      <Group justify="space-between">
        <Group gap="xs">
          <Button component={Link} to="/" variant="subtle">
            {t('ready.overview')}
          </Button>
          <Button component={Link} to="/costs" variant="subtle">
            {t('ready.costs')}
          </Button>
        </Group>
        <Button component="a" href={`/console/playground?model=${encodeURIComponent(model)}`} leftSection={<IconMessages size={16} aria-hidden />}>
          {t('ready.playground')}
        </Button>
      </Group>
    </Stack>
  );
}
