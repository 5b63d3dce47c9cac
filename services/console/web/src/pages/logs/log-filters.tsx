/** What to look for in the log. */
import { NumberInput, Select, SimpleGrid, Switch, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import type { Query } from '../../api/stats.ts';
import { NameSelect } from '../../components/name-select.tsx';
import { type Range, ranges } from '../../components/range-select.tsx';

export const filterNames = [
  'q',
  'request_id',
  'access_key',
  'model',
  'upstream',
  'session_id',
  'error_code',
  'status',
  'errors_only',
  'min_duration_ms',
  'stream',
] as const;

export function LogFilters({ filters, range, onChange }: { filters: Query; range: Range; onChange: (more: Query) => void }) {
  const { t } = useTranslation('logs');
  const later = useDebouncedCallback(onChange, 300);
  const text = (name: string) => ({
    label: t(`filter.${name}`),
    defaultValue: String(filters[name] ?? ''),
    onChange: (event: React.ChangeEvent<HTMLInputElement>) => later({ [name]: event.currentTarget.value || undefined }),
  });
  const name = (resource: 'access-keys' | 'models' | 'upstreams', field: string) => (
    <NameSelect
      resource={resource}
      label={t(`filter.${field}`)}
      value={(filters[field] as string) ?? null}
      clearable
      onChange={(value) => onChange({ [field]: value ?? undefined })}
    />
  );
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm" style={{ alignItems: 'end' }}>
      <Select
        label={t('statistics:range')}
        allowDeselect={false}
        data={Object.entries(ranges).map(([value, length]) => ({
          value,
          label: t(`statistics:ranges.${value}`),
          // A search of every row is refused beyond a week.
          disabled: filters['q'] !== undefined && length > ranges['7d'],
        }))}
        value={range}
        onChange={(value) => onChange({ range: value ?? undefined })}
      />
      {name('access-keys', 'access_key')}
      {name('models', 'model')}
      {name('upstreams', 'upstream')}
      <TextInput {...text('q')} placeholder={t('anything')} />
      <TextInput {...text('request_id')} />
      <TextInput {...text('session_id')} />
      <TextInput {...text('error_code')} />
      <NumberInput
        label={t('filter.min_duration_ms')}
        min={0}
        step={1000}
        defaultValue={(filters['min_duration_ms'] as number) ?? ''}
        onChange={(value) => later({ min_duration_ms: value === '' ? undefined : value })}
      />
      <Select
        label={t('filter.stream')}
        clearable
        data={[
          { value: 'true', label: t('streamed') },
          { value: 'false', label: t('whole') },
        ]}
        value={(filters['stream'] as string) ?? null}
        onChange={(value) => onChange({ stream: value ?? undefined })}
      />
      <Switch
        label={t('filter.errors_only')}
        pb={8}
        checked={filters['errors_only'] === 'true'}
        onChange={(event) => onChange({ errors_only: event.currentTarget.checked ? 'true' : undefined })}
      />
    </SimpleGrid>
  );
}
