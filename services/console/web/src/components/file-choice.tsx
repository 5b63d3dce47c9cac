/** A button that opens the browser's choice of files. The same file can be chosen again, after it was mended for example: browsers report only a choice that differs from the last. */
import { FileButton, type FileButtonProps } from '@mantine/core';
import { useRef } from 'react';

export function FileChoice<Multiple extends boolean = false>({ onChange, ...props }: FileButtonProps<Multiple>) {
  const reset = useRef<() => void>(null);
  return (
    <FileButton<Multiple>
      {...props}
      resetRef={reset}
      onChange={(chosen) => {
        onChange(chosen);
        reset.current?.();
      }}
    />
  );
}
