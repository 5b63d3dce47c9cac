/**
 * Tokens in the fields that a vendor fills with tokens of its own: what a page says, sealed by the gateway. The caller sends them back, and the model reads the
 * page again in the next turn. The first generation was no more than base64: it is known by its mark, and never read.
 */
import type { OpenPage, SealPage } from '../contract/hosted-tools.ts';

const mark = 'mgw2.';
const anyMark = /^mgw[12]\./;
/** Begins such a token in JSON text: a text without it holds none. */
export const pageTokenStart = '"mgw';
const maxLength = 64 * 1024;

export const writePageToken = (text: string, seal: SealPage): string => mark + seal(text);

/** Whether the gateway wrote it, of whatever generation: its vendor would refuse it. */
export const isPageToken = (token: unknown): token is string => typeof token === 'string' && anyMark.test(token);

/** null: a vendor's own token, or one that was changed, or that another gateway sealed. */
export const readPageToken = (token: unknown, open: OpenPage | undefined): string | null =>
  open && typeof token === 'string' && token.startsWith(mark) && token.length <= maxLength ? open(token.slice(mark.length)) : null;
