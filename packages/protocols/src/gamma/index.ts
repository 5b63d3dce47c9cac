import type { Protocol } from '../protocol.ts';

export const gamma: Protocol = { id: 'gamma', title: 'Gemini-compatible generate-content' };
