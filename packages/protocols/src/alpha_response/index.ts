import type { Protocol } from '../protocol.ts';

export const alphaResponse: Protocol = { id: 'alpha_response', title: 'OpenAI-compatible Responses' };
