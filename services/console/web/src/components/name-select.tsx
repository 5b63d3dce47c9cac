/** Chooses a resource by name; what is typed is searched by the server, so that thousands of names stay fast. */
import { MultiSelect, Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { type ResourcePath, useList } from '../api/resources.ts';

const offered = 50;

/** The first names that hold what was typed; `isCurrent`: not those of something that was typed before. */
function useSearch(resource: ResourcePath, typed: string): { names: string[]; isCurrent: boolean } {
  const [q] = useDebouncedValue(typed, 200);
  const { data, isPlaceholderData } = useList<{ name: string }>(resource, { page: 1, page_size: offered, q, sort: 'name' });
  return { names: (data?.items ?? []).map(({ name }) => name), isCurrent: q === typed && !isPlaceholderData };
}

export const useNames = (resource: ResourcePath, typed: string): string[] => useSearch(resource, typed).names;

const holds = (name: string, typed: string): boolean => name.toLowerCase().includes(typed.trim().toLowerCase());

type Chosen = { value?: string | null; onChange: (value: string | null) => void };

export function NameSelect({
  resource,
  value = null,
  onChange,
  ...props
}: Omit<SelectProps, 'data' | 'value' | 'onChange'> & Chosen & { resource: ResourcePath }) {
  const [typed, setTyped] = useState('');
  const { names, isCurrent } = useSearch(resource, typed === value ? '' : typed);
  const data = value && !names.includes(value) ? [value, ...names] : names;
  return (
    <Select
      allowDeselect={props.clearable ?? false}
      {...props}
      searchable
      selectFirstOptionOnChange
      data={data}
      value={value || null}
      onChange={onChange}
      onSearchChange={setTyped}
      // Half a name sends no form with the name that stood there before.
      onKeyDown={(event) => event.key === 'Enter' && typed !== (value ?? '') && event.preventDefault()}
      // Enter takes the first: neither a name of an earlier search nor the one that is chosen already may be that, unless it holds what was typed.
      filter={({ options, search }) =>
        options.filter((option) => 'value' in option && ((isCurrent && names.includes(String(option.value))) || holds(String(option.value), search)))
      }
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
