/** Chooses a resource by name; what is typed is searched by the server, so that thousands of names stay fast. */
import { MultiSelect, Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { type ResourcePath, useList } from '../api/resources.ts';

const offered = 50;

/** The first names that hold what was typed. */
export function useNames(resource: ResourcePath, typed: string): string[] {
  const [q] = useDebouncedValue(typed, 200);
  const { data } = useList<{ name: string }>(resource, { page: 1, page_size: offered, q, sort: 'name' });
  return (data?.items ?? []).map(({ name }) => name);
}

type Chosen = { value?: string | null; onChange: (value: string | null) => void };

export function NameSelect({
  resource,
  value = null,
  onChange,
  ...props
}: Omit<SelectProps, 'data' | 'value' | 'onChange'> & Chosen & { resource: ResourcePath }) {
  const [typed, setTyped] = useState('');
  const names = useNames(resource, typed === value ? '' : typed);
  const data = value && !names.includes(value) ? [value, ...names] : names;
  return (
    <Select
      {...props}
      searchable
      selectFirstOptionOnChange
      data={data}
      value={value || null}
      onChange={onChange}
      onSearchChange={setTyped}
      filter={({ options }) => options}
    />
  );
}

interface NamesProps {
  resources: readonly [ResourcePath, ...ResourcePath[]];
  label: string;
  description?: string;
  error?: React.ReactNode;
  value?: string[];
  onChange: (value: string[]) => void;
}

/** Several names; patterns that name nothing yet may be typed too. */
export function NamesSelect({ resources: [first, second], value = [], onChange, ...props }: NamesProps) {
  const [typed, setTyped] = useState('');
  const names = [...useNames(first, typed), ...useNames(second ?? first, typed)];
  const data = [...new Set([...value, ...(typed.trim() ? [typed.trim()] : []), ...names])];
  return (
    <MultiSelect
      {...props}
      searchable
      clearable
      data={data}
      value={value}
      onChange={onChange}
      searchValue={typed}
      onSearchChange={setTyped}
      hidePickedOptions
      // Enter takes what was typed instead of sending the form.
      selectFirstOptionOnChange
    />
  );
}
