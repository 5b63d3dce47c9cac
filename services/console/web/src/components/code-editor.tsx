/** An editor for JSON and JavaScript, loaded when it is first shown. */
import { Input, Loader } from '@mantine/core';
import { lazy, type ReactNode, Suspense, useId } from 'react';
import type { CodeCompletion } from './code-completion.ts';
import { useReadOnlyForm } from './editable.tsx';

/** Properties of the code editor. */
export interface CodeEditorProps {
  value: string;
  onChange?: (value: string) => void;
  language: 'json' | 'javascript';
  label: string;
  description?: string;
  error?: ReactNode;
  minHeight?: string;
  maxHeight?: string;
  readOnly?: boolean;
  /** Offered while JavaScript is typed. */
  completions?: readonly CodeCompletion[];
  /** A fault at a line, from 1. */
  marker?: CodeMarker | null;
}

/** A fault shown at a line of the code. */
export interface CodeMarker {
  line: number;
  message: string;
}

const Editor = lazy(() => import('./code-editor-core.tsx'));

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
