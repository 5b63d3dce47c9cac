/** Who is a member of a group, and within what members make keys. */
import { NumberInput, Switch, TagsInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { BudgetFields } from '../../components/limit-fields.tsx';
import type { GroupForm } from './key-group.ts';

export function MemberFields({ form }: { form: UseFormReturnType<GroupForm> }) {
  const { t } = useTranslation('key-groups');
  return (
    <>
      <TagsInput label={t('members.who')} description={t('members.whoHint')} {...form.getInputProps('members')} />
      <Switch label={t('members.allowed')} {...form.getInputProps('member_keys.allowed', { type: 'checkbox' })} />
      {form.values.member_keys.allowed && (
        <>
          <NumberInput label={t('members.max')} min={0} max={1000} {...form.getInputProps('member_keys.max')} />
          <NumberInput label={t('members.maxDays')} description={t('members.maxDaysHint')} min={1} max={3650} {...form.getInputProps('member_keys.max_days')} />
          <BudgetFields form={form} field="member_keys.max_budget" />
        </>
      )}
    </>
  );
}
