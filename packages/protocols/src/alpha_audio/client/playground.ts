/** Speech and transcriptions in the playground. */
import { bearer, type PlaygroundCall, type PlaygroundResult } from '../../playground/call.ts';
import { at, text } from '../../playground/dialect.ts';

/** JSON with the words, or the words alone. */
const readWords = (reply: unknown): PlaygroundResult[] => [{ kind: 'text', text: text(reply) || text(at(reply, 'text')) }];

const common = { clientProtocol: 'alpha_audio', headers: bearer } as const;
const recording = { file: { field: 'file', accept: 'audio/*,video/mp4,video/webm' }, readReply: readWords } as const;

export const playgroundCalls: readonly PlaygroundCall[] = [
  {
    ...common,
    operation: 'speech',
    path: '/v1/audio/speech',
    fields: ['text', 'voice'],
    body: ({ model, text: input, voice }) => ({ model, input, voice: voice || 'alloy' }),
    readReply: () => [],
  },
  {
    ...common,
    ...recording,
    operation: 'transcribe',
    path: '/v1/audio/transcriptions',
    fields: ['language'],
    body: ({ model, language }) => ({ model, ...(language && { language }) }),
  },
  { ...common, ...recording, operation: 'translate-speech', path: '/v1/audio/translations', fields: [], body: ({ model }) => ({ model }) },
];
