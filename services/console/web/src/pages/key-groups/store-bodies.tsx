/** Whether a group keeps what its callers write and are answered: off, and said plainly what on means. */
import { Alert, Group, NumberInput, Switch } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconEye } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { GroupForm } from './key-group.ts';

export function StoreBodies({ form }: { form: UseFormReturnType<GroupForm> }) {
  const { t } = useTranslation('key-groups');
  const { enabled } = form.values.store_bodies;
  return (
    <>
      <Switch
        label={t('store.label')}
        description={t('store.hint')}
        {...form.getInputProps('store_bodies.enabled', { type: 'checkbox' })}
        error={form.errors['store_bodies']}
      />
      {enabled && (
        <>
          <Alert color="orange" variant="light" icon={<IconEye aria-hidden />}>
            {t('store.warning')}
          </Alert>
          <Group grow align="flex-start">
            <NumberInput label={t('store.most')} suffix=" KiB" min={1} max={1024} {...form.getInputProps('store_bodies.kib')} />
            <NumberInput label={t('store.hours')} suffix=" h" min={1} max={720} allowDecimal={false} {...form.getInputProps('store_bodies.ttl_hours')} />
          </Group>
        </>
      )}
    </>
  );
}
