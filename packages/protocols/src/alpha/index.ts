import type { Protocol } from '../protocol.ts';

export const alpha: Protocol = { id: 'alpha', title: 'OpenAI-compatible chat completions' };
