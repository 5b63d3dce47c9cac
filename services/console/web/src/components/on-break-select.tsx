/** What happens to the caller of a stream that breaks, on an upstream or a key group. */
import { Select, type SelectProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';

interface Props extends Omit<SelectProps, 'data'> {
  /** What holds when nothing is chosen. */
  unset: 'finish' | 'upstream';
}

export function OnBreakSelect({ unset, ...props }: Props) {
  const { t } = useTranslation('on-break');
  const data = [{ value: '', label: t(`unset.${unset}`) }, ...['finish', 'break', 'auto'].map((value) => ({ value, label: t(`choices.${value}`) }))];
  return <Select label={t('label')} description={t('hint')} allowDeselect={false} data={data} {...props} />;
}
