/** The comparison itself: a chunk of its own. Where there is no room for two columns, what went stands above what came. */
import { json } from '@codemirror/lang-json';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { oneDark } from '@codemirror/theme-one-dark';
import { EditorView, lineNumbers } from '@codemirror/view';
import { Box, Group, Text, useComputedColorScheme } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { minimalSetup } from 'codemirror';
import { useEffect, useRef } from 'react';
import { darkGround } from './code-theme.ts';
import type { TextDiffProps } from './text-diff-props.ts';

const collapseUnchanged = { margin: 3, minSize: 8 };
/** Large texts that have nothing in common are compared roughly instead of for seconds. */
const diffConfig = { scanLimit: 1000, timeout: 300 };

export default function TextDiffCore({ before, after, labels }: TextDiffProps) {
  const place = useRef<HTMLDivElement>(null);
  const dark = useComputedColorScheme() === 'dark';
  const wide = useMediaQuery('(min-width: 62em)', true, { getInitialValueInEffect: false });
  const { before: beforeLabel, after: afterLabel, unchanged } = labels;
  useEffect(() => {
    const parent = place.current;
    if (!parent) return;
    const shown = (label: string): Extension[] => [
      minimalSetup,
      lineNumbers(),
      json(),
      EditorView.lineWrapping,
      EditorState.readOnly.of(true),
      EditorView.contentAttributes.of({ 'aria-label': label, 'aria-readonly': 'true', tabindex: '0' }),
      EditorState.phrases.of({ '$ unchanged lines': unchanged }),
      EditorView.theme({ '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"…"' } }),
      ...(dark ? [oneDark, darkGround] : []),
    ];
    const view = wide
      ? new MergeView({
          parent,
          a: { doc: before, extensions: shown(beforeLabel) },
          b: { doc: after, extensions: shown(afterLabel) },
          collapseUnchanged,
          diffConfig,
        })
      : new EditorView({
          parent,
          doc: after,
          extensions: [...shown(afterLabel), unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged, diffConfig })],
        });
    return () => view.destroy();
  }, [before, after, beforeLabel, afterLabel, unchanged, dark, wide]);
  return (
    <div>
      {wide && (
        <Group grow mb={4}>
          {[beforeLabel, afterLabel].map((label) => (
            <Text key={label} size="sm" fw={500}>
              {label}
            </Text>
          ))}
        </Group>
      )}
      <Box
        ref={place}
        mah={560}
        style={{ border: '1px solid var(--mantine-color-default-border)', borderRadius: 'var(--mantine-radius-md)', overflow: 'auto' }}
      />
    </div>
  );
}
