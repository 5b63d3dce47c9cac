/** What an editor for code is given, wherever it is loaded. */
import type { ReactNode } from 'react';
import type { CodeCompletion } from './code-completion.ts';

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
