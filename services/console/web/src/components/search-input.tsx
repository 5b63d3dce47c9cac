/** A field whose text is searched for a moment after it was typed, and which follows what is searched when that changes by other means (Back, a link). */
import { TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';

const pauseMs = 250;

export function SearchInput({
  value,
  onSearch,
  ...props
}: Omit<TextInputProps, 'value' | 'onChange' | 'type'> & { value: string; onSearch: (text: string) => void }) {
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
  return (
    <TextInput
      {...props}
      type="search"
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        search(event.currentTarget.value);
      }}
    />
  );
}
