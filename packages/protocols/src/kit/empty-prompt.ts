import type { Losses } from './losses.ts';

/** Stands for a prompt that says nothing, at upstreams that refuse a request without words and name a field that its caller never left empty. */
export function fillPrompt(losses: Pick<Losses, 'add'>): string {
  losses.add('messages', 'emulated', 'A prompt without words became an ellipsis, since it would be refused.');
  return '…';
}
