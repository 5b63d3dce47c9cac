/** A new key of one's own, within what the group allows. */
import { Button, Group, Modal, NumberInput, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { showFaults } from '../../components/form-faults.ts';
import { formatAmount } from '../../components/format.ts';
import { useDraft } from '../../components/use-draft.ts';
import { useReturnFocus } from '../../components/use-return-focus.ts';
import { useMe } from '../../session/use-me.ts';
import { type MyGroup, type MyKey, useMyChange } from './use-my.ts';

interface Props {
  /** In which one more key may be made; one at least. */
  groups: readonly MyGroup[];
  onClose: () => void;
  onMade: (key: MyKey) => void;
}

export function NewMyKey({ groups, onClose, onMade }: Props) {
  useReturnFocus();
  const { t } = useTranslation('my');
  const { t: common } = useTranslation();
  const username = useMe().data?.username ?? '';
  const form = useForm({
    initialValues: { name: '', group: groups[0]?.name ?? '', description: '', limit: '' as number | string, days: '' as number | string },
  });
  useDraft('my new key', form);
  const group = groups.find(({ name }) => name === form.values.group);
  const rules = group?.member_keys ?? null;
  const maxBudget = rules?.max_budget ?? null;
  const make = useMyChange(({ name, limit, days, ...rest }: typeof form.values) =>
    call<MyKey>('my/keys', {
      method: 'POST',
      body: {
        ...rest,
        name: name.trim(),
        ...(days !== '' && { days }),
        ...(limit !== '' && { budget: { limit, period: maxBudget?.period ?? 'month', currency: maxBudget?.currency ?? 'USD' } }),
      },
    }),
  );
  const onSubmit = form.onSubmit((values) => make.mutate(values, { onSuccess: onMade, onError: (error) => void showFaults(form, error, { budget: 'limit' }) }));
  return (
    <Modal opened onClose={onClose} title={t('create')} size="lg" closeButtonProps={{ 'aria-label': common('actions.close') }}>
      <form onSubmit={onSubmit} noValidate>
        <Stack>
          <TextInput data-autofocus label={t('name')} description={t('nameHint', { username })} required {...form.getInputProps('name')} />
          <Select label={t('group')} allowDeselect={false} data={groups.map(({ name }) => name)} {...form.getInputProps('group')} />
          {group && (
            <Text size="sm" c="dimmed" className="anywhere">
              {t('groupModels', { models: group.models.slice(0, 12).join(', ') + (group.models.length > 12 ? ', …' : '') })}
            </Text>
          )}
          <NumberInput
            label={t('budget')}
            description={
              maxBudget
                ? t('budgetMost', { limit: formatAmount(maxBudget.limit, maxBudget.currency), period: t(`periods.${maxBudget.period}`) })
                : t('budgetHint')
            }
            min={0}
            decimalScale={6}
            {...form.getInputProps('limit')}
          />
          <NumberInput
            label={t('days')}
            description={rules?.max_days ? t('daysMost', { count: rules.max_days }) : t('daysHint')}
            min={1}
            {...(rules?.max_days && { max: rules.max_days })}
            {...form.getInputProps('days')}
          />
          <Textarea label={t('description')} autosize minRows={1} {...form.getInputProps('description')} />
          {make.isError && <FaultNotice error={make.error} title={t('notMade')} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {common('actions.cancel')}
            </Button>
            <Button type="submit" loading={make.isPending}>
              {t('create')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
