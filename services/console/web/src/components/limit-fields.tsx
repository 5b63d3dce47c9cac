/** Rate limit and budget of an access key or a group, as fields of a form. */
import { Fieldset, NumberInput, Select, SimpleGrid, Text, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** Empty numbers: not limited here. */
export interface KeyLimitForm {
  rpm: number | '';
  window_secs: number | '';
}

export interface BudgetForm {
  /** In whole currency, as it was typed or saved. */
  limit: number | string;
  period: string;
  currency: string;
}

type Field = { getInputProps: (path: never) => object };

/** `inherit` and nothing look the same: no number. */
export function keyLimitForm(stored: unknown): KeyLimitForm {
  if (typeof stored !== 'object' || stored === null) return { rpm: '', window_secs: 60 };
  const { rpm, window_secs } = stored as { rpm: number; window_secs: number };
  return { rpm, window_secs };
}

export const keyLimitBody = ({ rpm, window_secs }: KeyLimitForm): unknown => (rpm === '' ? 'inherit' : { rpm, ...(window_secs !== '' && { window_secs }) });

export function budgetForm(stored: unknown): BudgetForm {
  if (typeof stored !== 'object' || stored === null) return { limit: '', period: 'month', currency: 'USD' };
  return stored as { limit: string; period: string; currency: string };
}

export const budgetBody = (form: BudgetForm): unknown => (form.limit === '' ? null : { ...form, limit: String(form.limit) });

export function KeyLimitFields({ form, field }: { form: Field; field: string }) {
  const { t } = useTranslation('limits');
  const props = (name: string) => form.getInputProps(`${field}.${name}` as never);
  return (
    <Fieldset legend={t('rate')}>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
        <NumberInput
          label={t('requests')}
          description={t('fields:key_rate_limit.rpm')}
          placeholder={t('none')}
          min={1}
          allowDecimal={false}
          {...props('rpm')}
        />
        <NumberInput
          label={t('window')}
          description={t('fields:key_rate_limit.window_secs')}
          suffix=" s"
          min={1}
          allowDecimal={false}
          {...props('window_secs')}
        />
      </SimpleGrid>
    </Fieldset>
  );
}

export function BudgetFields({ form, field }: { form: Field; field: string }) {
  const { t } = useTranslation('limits');
  const props = (name: string) => form.getInputProps(`${field}.${name}` as never);
  return (
    <Fieldset legend={t('budget')}>
      <Text size="sm" c="dimmed">
        {t('fields:budget.limit')} {t('fields:budget.period')}
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="md">
        <NumberInput label={t('amount')} placeholder={t('none')} min={0} decimalScale={6} {...props('limit')} />
        <Select label={t('period')} data={['day', 'week', 'month', 'total'].map((value) => ({ value, label: t(`periods.${value}`) }))} {...props('period')} />
        <TextInput label={t('currency')} maxLength={3} {...props('currency')} />
      </SimpleGrid>
    </Fieldset>
  );
}
