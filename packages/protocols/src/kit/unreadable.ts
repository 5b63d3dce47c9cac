import type { ChatEvent } from '../chat/event.ts';

/**
 * A body that is not a reply of the protocol: something else may answer at the upstream's address. The code sets it apart from replies that broke off.
 * Example: `unreadable('The reply holds no choices.')`.
 */
export const unreadable = (message: string): ChatEvent => ({ type: 'error', error: { class: 'broken', code: 'unreadable', message } });
