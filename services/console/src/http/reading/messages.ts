/** What goes between the console and the thread that reads a long body. */
import type { ErrorCode } from '@model-gateway/contracts/errors';
import type { BodyText } from './read-text.ts';

export type ToThread = BodyText | { next: true };

export type FromThread =
  /** The value with its long lists empty. */
  | { value: unknown }
  /** More of a list. */
  | { field: string; entries: unknown[] }
  | { end: true }
  | { refused: { code: ErrorCode; message: string } };
