/** What to look for in the log. */
import { NumberInput, Select, SimpleGrid, Switch } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Query } from '../../api/stats.ts';
import { NameSelect } from '../../components/name-select.tsx';
import { type Range, ranges } from '../../components/range-select.tsx';
import { SearchInput, useTyped } from '../../components/search-input.tsx';
import type { Change } from '../../components/use-address-state.ts';

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

export function LogFilters({ filters, range, onChange }: { filters: Query; range: Range; onChange: (more: Change, options?: { replace?: boolean }) => void }) {
  const { t } = useTranslation('logs');
  const text = (name: string) => {
    const value = String(filters[name] ?? '');
    // The first letter leaves another list behind, which Back should find again; the next ones leave half a word.
    return { label: t(`filter.${name}`), value, onSearch: (next: string) => onChange({ [name]: next || undefined }, { replace: value !== '' }) };
  };
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
      <SearchInput {...text('q')} placeholder={t('anything')} />
      <SearchInput {...text('request_id')} />
      <SearchInput {...text('session_id')} />
      <SearchInput {...text('error_code')} />
      <Duration {...text('min_duration_ms')} />
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

function Duration({ label, value, onSearch }: { label: string; value: string; onSearch: (text: string) => void }) {
  const [typed, type] = useTyped(value, onSearch);
  return <NumberInput label={label} min={0} step={1000} value={typed} onChange={(next) => type(String(next))} />;
}
