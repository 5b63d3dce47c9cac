/** The editor itself: a chunk of its own, since most pages need none. */
import { javascript, javascriptLanguage } from '@codemirror/lang-javascript';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { type Diagnostic, linter, lintGutter } from '@codemirror/lint';
import { EditorView } from '@codemirror/view';
import { Box, useComputedColorScheme } from '@mantine/core';
import CodeMirror from '@uiw/react-codemirror';
import { useMemo } from 'react';
import { completionSource } from './code-completion.ts';
import type { CodeEditorProps, CodeMarker } from './code-editor-props.ts';
import { darkGround } from './code-theme.ts';

export default function CodeEditorCore({
  value,
  onChange,
  language,
  minHeight = '120px',
  maxHeight = '480px',
  readOnly = false,
  labelledBy,
  completions,
  marker,
}: CodeEditorProps & { labelledBy: string }) {
  const dark = useComputedColorScheme() === 'dark';
  const extensions = useMemo(
    () => [
      EditorView.lineWrapping,
      ...(dark ? [darkGround] : []),
      EditorView.contentAttributes.of({ 'aria-labelledby': labelledBy, tabindex: '0' }),
      ...(language === 'json' ? [json(), ...(readOnly ? [] : [linter(emptyOrJson), lintGutter()])] : [javascript()]),
      ...(completions ? [javascriptLanguage.data.of({ autocomplete: completionSource(completions) })] : []),
      ...(marker === undefined ? [] : [linter(markAt(marker), { delay: 0 }), lintGutter()]),
    ],
    [dark, language, readOnly, labelledBy, completions, marker],
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

/** The words of the line, marked; the text may have become shorter since. */
const markAt =
  (marker: CodeMarker | null) =>
  ({ state: { doc } }: EditorView): Diagnostic[] => {
    if (!marker || marker.line < 1) return [];
    const { from, to, text } = doc.line(Math.min(marker.line, doc.lines));
    return [{ from: from + text.length - text.trimStart().length, to, severity: 'error', message: marker.message }];
  };
