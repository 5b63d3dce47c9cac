/** An editor for JSON and JavaScript, loaded when it is first shown. */
import { Input, Loader } from '@mantine/core';
import { Suspense, useId } from 'react';
import type { CodeEditorProps } from './code-editor-props.ts';
import { useReadOnlyForm } from './editable.tsx';
import { lazyPart } from './lazy-part.tsx';

const Editor = lazyPart(() => import('./code-editor-core.tsx'));

export function CodeEditor(props: CodeEditorProps) {
  const id = useId();
  const readOnlyForm = useReadOnlyForm();
  return (
    <Input.Wrapper label={props.label} description={props.description} error={props.error} labelElement="div" labelProps={{ id }}>
      <Suspense fallback={<Loader size="sm" />}>
        <Editor {...props} readOnly={props.readOnly || readOnlyForm} labelledBy={id} />
      </Suspense>
    </Input.Wrapper>
  );
}
