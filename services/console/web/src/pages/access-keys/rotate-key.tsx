/** Replaces the value of a key: at once, or with some hours in which the old value works as well. */
import { Button, Group, Modal, NumberInput, Stack, Text } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { countOverlay } from '../../components/dialogs.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { useReturnFocus } from '../../components/use-return-focus.ts';
import type { AccessKey } from './access-key.ts';

interface Props {
  name: string;
  onRotated: (key: AccessKey) => void;
  variant?: 'subtle' | 'default';
}

/** A month. */
const maxHours = 744;

export function RotateButton({ name, onRotated, variant = 'subtle' }: Props) {
  const { t } = useTranslation('access-keys');
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button variant={variant} leftSection={<IconRefresh size={16} aria-hidden />} onClick={() => setOpened(true)}>
        {t('rotate')}
      </Button>
      {opened && (
        <RotateDialog
          name={name}
          onClose={() => setOpened(false)}
          onRotated={(key) => {
            setOpened(false);
            onRotated(key);
          }}
        />
      )}
    </>
  );
}

function RotateDialog({ name, onClose, onRotated }: Props & { onClose: () => void }) {
  useReturnFocus();
  const { t } = useTranslation('access-keys');
  const client = useQueryClient();
  // The drawer below ignores the keyboard meanwhile; the key that closes this is still on its way to it.
  useEffect(() => {
    countOverlay(1);
    return () => void setTimeout(() => countOverlay(-1));
  }, []);
  const [hours, setHours] = useState<number | string>(0);
  const overlap = typeof hours === 'number' ? hours : 0;
  const rotate = useMutation({
    mutationFn: () => call<AccessKey>(path('access-keys', name, 'rotate'), { method: 'POST', body: { overlap_hours: overlap } }),
    onSuccess: (key) => {
      onRotated(key);
      void client.invalidateQueries({ queryKey: ['access-keys'] });
      return client.invalidateQueries({ queryKey: ['key-use'] });
    },
  });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    // The dialog may stand inside the form of a drawer, as React sees it.
    event.stopPropagation();
    rotate.mutate();
  };
  return (
    <Modal opened onClose={onClose} title={t('rotateTitle', { name })} closeButtonProps={{ 'aria-label': t('common:actions.close') }}>
      <form onSubmit={onSubmit}>
        <Stack>
          <NumberInput
            data-autofocus
            label={t('overlap')}
            description={t('overlapHint')}
            min={0}
            max={maxHours}
            clampBehavior="strict"
            value={hours}
            onChange={setHours}
          />
          <Text size="sm">{overlap === 0 ? t('rotateHint') : t('rotateOverlapHint', { count: overlap })}</Text>
          {rotate.isError && <FaultNotice error={rotate.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t('common:actions.cancel')}
            </Button>
            <Button type="submit" loading={rotate.isPending}>
              {t('rotate')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
