/** The editor itself: a chunk of its own, since most pages need none. */
import { javascript } from '@codemirror/lang-javascript';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { linter, lintGutter } from '@codemirror/lint';
import { EditorView } from '@codemirror/view';
import { Box, useComputedColorScheme } from '@mantine/core';
import CodeMirror from '@uiw/react-codemirror';
import { useMemo } from 'react';
import type { CodeEditorProps } from './code-editor.tsx';

export default function CodeEditorCore({
  value,
  onChange,
  language,
  minHeight = '120px',
  maxHeight = '480px',
  readOnly = false,
  labelledBy,
}: CodeEditorProps & { labelledBy: string }) {
  const dark = useComputedColorScheme() === 'dark';
  const extensions = useMemo(
    () => [
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-labelledby': labelledBy }),
      ...(language === 'json' ? [json(), ...(readOnly ? [] : [linter(emptyOrJson), lintGutter()])] : [javascript()]),
    ],
    [language, readOnly, labelledBy],
  );
  return (
    <Box style={{ border: '1px solid var(--mantine-color-default-border)', borderRadius: 'var(--mantine-radius-md)', overflow: 'hidden' }}>
      <CodeMirror
        value={value}
        {...(onChange && { onChange })}
        theme={dark ? 'dark' : 'light'}
        readOnly={readOnly}
        minHeight={minHeight}
        maxHeight={maxHeight}
        extensions={extensions}
        indentWithTab={false}
      />
    </Box>
  );
}

const parse = jsonParseLinter();
const emptyOrJson = (view: EditorView) => (view.state.doc.length === 0 ? [] : parse(view));
