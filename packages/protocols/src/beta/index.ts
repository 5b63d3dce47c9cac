import type { Protocol } from '../protocol.ts';

export const beta: Protocol = { id: 'beta', title: 'Anthropic-compatible messages' };
