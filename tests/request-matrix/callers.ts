/** The client protocols of the matrix: where each asks, and what each asks for. */
import type { ProtocolId } from '@model-gateway/contracts';
import type { Ask } from './ask.ts';
import { chatCompletions } from './asks/chat-completions.ts';
import { generateContent } from './asks/generate-content.ts';
import { messages } from './asks/messages.ts';
import { responses } from './asks/responses.ts';
import type { MatrixTarget } from './targets.ts';

export interface Caller {
  protocol: ProtocolId;
  path(model: string, stream?: boolean): string;
  asks: readonly Ask[];
}

export const callers: readonly Caller[] = [
  { protocol: 'alpha', path: () => '/v1/chat/completions', asks: chatCompletions },
  { protocol: 'alpha_response', path: () => '/v1/responses', asks: responses },
  { protocol: 'beta', path: () => '/v1/messages', asks: messages },
  {
    protocol: 'gamma',
    path: (model, stream) => `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    asks: generateContent,
  },
];

/** Whose callers are at home where: what one's own vendor refuses in one's own protocol, sent as it is, is not the gateway's to mend. */
const homes: readonly (readonly [ProtocolId, MatrixTarget['protocol'], RegExp])[] = [
  ['alpha', 'alpha', /^(?:gpt|o\d)/],
  ['alpha_response', 'alpha_response', /^(?:gpt|o\d)/],
  ['beta', 'beta', /^claude/],
  ['beta', 'cloudhost_invoke', /claude/],
  ['gamma', 'gamma', /^gemini/],
];

/** Whether the caller answers for what he sends: at home, and with a history that is incomplete on purpose, wherever it passes as it is. */
export const answersForItself = (caller: Caller, target: MatrixTarget, ask: Ask): boolean =>
  homes.some(([client, upstream, models]) => caller.protocol === client && target.protocol === upstream && models.test(target.model)) ||
  (ask.incomplete === true && caller.protocol === target.protocol);
