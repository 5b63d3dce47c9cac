/** What goes between the console and the thread that reads long texts. */
import type { ErrorCode } from '@model-gateway/contracts/errors';
import type { ForeignSource } from '../../transfer/foreign/index.ts';
import type { BodyText } from './read-text.ts';

/** Another gateway's configuration, to be converted. */
export interface ForeignText {
  source: ForeignSource;
  text: string;
}

export type ToThread = BodyText | ForeignText | { next: true };

export type FromThread =
  /** The value with its long lists empty. */
  | { value: unknown }
  /** More of a list. */
  | { field: string; entries: unknown[] }
  | { end: true }
  | { refused: { code: ErrorCode; message: string; field?: string } };
