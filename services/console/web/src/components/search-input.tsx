/** Fields whose text is searched for a moment after it was typed, and which follow what is searched when that changes by other means (Back, a link). */
import { TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';

const pauseMs = 250;

/** The text of such a field, and what to call with each change of it. */
export function useTyped(value: string, onSearch: (text: string) => void): [string, (text: string) => void] {
  const [typed, setTyped] = useState(value);
  /** What was typed here comes back as the value, when more may be typed already. */
  const sent = useRef(value);
  const search = useDebouncedCallback((text: string) => {
    sent.current = text;
    onSearch(text);
  }, pauseMs);
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    search.cancel();
    setTyped(value);
  }, [value, search]);
  const type = (text: string) => {
    setTyped(text);
    search(text);
  };
  return [typed, type];
}

export function SearchInput({
  value,
  onSearch,
  ...props
}: Omit<TextInputProps, 'value' | 'onChange' | 'type'> & { value: string; onSearch: (text: string) => void }) {
  const [typed, type] = useTyped(value, onSearch);
  return <TextInput {...props} type="search" value={typed} onChange={(event) => type(event.currentTarget.value)} />;
}
