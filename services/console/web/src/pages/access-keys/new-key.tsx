/** A key's value, right after it was made, and how clients are given it. */

import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { findClient } from '@model-gateway/client-setup';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useGrantedNames } from '../../api/use-catalog.ts';
import { Snippet } from '../../components/snippet.tsx';
import { useReturnFocus } from '../../components/use-return-focus.ts';
import { ClientPicker } from '../clients/client-picker.tsx';
import { ClientSteps } from '../clients/client-steps.tsx';
import type { AccessKey } from './access-key.ts';

export function NewKey({ shown, onClose }: { shown: AccessKey; onClose: () => void }) {
  useReturnFocus();
  const { t } = useTranslation('access-keys');
  const { t: clients } = useTranslation('clients');
  const [id, setId] = useState('curl-chat');
  const model = useGrantedNames(shown.name)[0] ?? clients('aModel');
  const client = findClient(id);
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('shownTitle', { name: shown.name })}
      size="xl"
      closeOnClickOutside={false}
      closeOnEscape={false}
      closeButtonProps={{ 'aria-label': t('common:actions.close') }}
    >
      <Stack>
        <Text size="sm">{t(shown.anonymous ? 'shownOnce' : 'shownHint')}</Text>
        <Snippet title={t('key')} text={shown.key} />
        <ClientPicker compact value={id} onChange={setId} />
        {client && <ClientSteps client={client} facts={{ baseUrl: location.origin, key: shown.key, model }} />}
        <Group justify="flex-end">
          <Button onClick={onClose}>{t('done')}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
