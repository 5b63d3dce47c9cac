/**
 * One coding agent puts a line at the head of its system prompt that changes with every call. The vendor itself takes it out before it caches;
 * anyone else's prompt cache would miss each time, so it goes nowhere but to the vendor.
 */
import type { Edit } from '@model-gateway/json-bytes';
import { asArray, asString, own } from '../../kit/read.ts';

export const billingMark = 'x-anthropic-billing-header:';

/** `text` without the line; the same text when it does not begin with it. */
export function withoutBillingLine(text: string): string {
  if (!text.startsWith(billingMark)) return text;
  const end = text.indexOf('\n');
  return end < 0 ? '' : text.slice(end + 1).replace(/^\n+/, '');
}

/** Whether an address is the vendor's own. */
export function isFirstParty(baseUrl: string): boolean {
  return /^https?:\/\/(?:[a-z0-9-]+\.)*anthropic\.com(?::\d+)?(?:\/|$)/i.test(baseUrl);
}

/** The edits that take the line out of a raw body. */
export function billingEdits(body: unknown): Edit[] {
  const system = own(body, 'system');
  const text = asString(system);
  if (text !== undefined) return editText(text, ['system']);
  const blocks = asArray(system) ?? [];
  const edits = blocks.flatMap((block, place) => {
    const [edit] = editText(asString(own(block, 'text')) ?? '', ['system', place, 'text']);
    if (!edit) return [];
    return [edit.value === undefined ? { path: ['system', place], value: undefined } : edit];
  });
  const emptied = edits.length > 0 && edits.length === blocks.length && edits.every((edit) => edit.value === undefined);
  return emptied ? [{ path: ['system'], value: undefined }] : edits;
}

function editText(text: string, path: Edit['path']): Edit[] {
  const kept = withoutBillingLine(text);
  return kept === text ? [] : [{ path, value: kept === '' ? undefined : kept }];
}
