/** The dark theme of editors on a darker ground: its own is too light for its comments, names and line numbers to be read easily. */
import { type Extension, Prec } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

const ground = '#16181c';

export const darkGround: Extension = Prec.highest(
  EditorView.theme(
    {
      '&, .cm-gutters': { backgroundColor: ground },
      '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: '#1b1e23' },
    },
    { dark: true },
  ),
);
