/** How a client is given one of the own keys: its settings with key, address and model filled in. */
import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core';
import { findClient } from '@model-gateway/client-setup';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Snippet } from '../../components/snippet.tsx';
import { useReturnFocus } from '../../components/use-return-focus.ts';
import { ClientPicker } from '../clients/client-picker.tsx';
import { ClientSteps } from '../clients/client-steps.tsx';

interface Props {
  name: string;
  value: string;
  /** That the key may call. */
  models: readonly string[];
  onClose: () => void;
}

export function ClientSetupDialog({ name, value, models, onClose }: Props) {
  useReturnFocus();
  const { t } = useTranslation('my');
  const { t: clients } = useTranslation('clients');
  const [id, setId] = useState('curl-chat');
  const [model, setModel] = useState(models[0] ?? clients('aModel'));
  const client = findClient(id);
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('access-keys:shownTitle', { name })}
      size="xl"
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': t('common:actions.close') }}
    >
      <Stack>
        <Text size="sm">{t('setUpHint')}</Text>
        <Snippet title={t('key')} text={value} />
        {models.length > 0 && (
          <Select label={t('model')} searchable allowDeselect={false} data={[...models]} value={model} onChange={(next) => next !== null && setModel(next)} />
        )}
        <ClientPicker compact value={id} onChange={setId} />
        {client && <ClientSteps client={client} facts={{ baseUrl: location.origin, key: value, model }} />}
        <Group justify="flex-end">
          <Button onClick={onClose}>{t('access-keys:done')}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
