/** What is asked of which model, and as whom. */
import { Autocomplete, Select, SimpleGrid } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { offeredNames } from '../../api/use-catalog.ts';
import { NameSelect } from '../../components/name-select.tsx';
import type { PlaygroundOperation } from './use-operations.ts';

export interface Target {
  operation: PlaygroundOperation;
  model: string;
  keyName: string | null;
}

interface Props {
  value: Target;
  onChange: (change: Partial<Target>) => void;
  names: readonly string[];
  operations: readonly PlaygroundOperation[];
  /** What this kind of call asks for beside. */
  children?: ReactNode;
}

export function CallTarget({ value, onChange, names, operations, children }: Props) {
  const { t } = useTranslation('playground');
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <Autocomplete label={t('modelName')} data={names} limit={offeredNames} value={value.model} onChange={(model) => onChange({ model })} />
      <Select
        label={t('operation')}
        allowDeselect={false}
        data={operations.map((operation) => ({ value: operation, label: t(`operations.${operation}`) }))}
        value={value.operation}
        onChange={(operation) => operation && onChange({ operation: operation as PlaygroundOperation })}
      />
      {children}
      <NameSelect
        resource="access-keys"
        label={t('callAs')}
        placeholder={t('asTest')}
        clearable
        value={value.keyName}
        onChange={(keyName) => onChange({ keyName })}
      />
    </SimpleGrid>
  );
}
