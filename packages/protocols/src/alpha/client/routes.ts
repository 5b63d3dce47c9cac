import type { ClientRoute } from '../../contract/index.ts';
import { modelInfoPath } from './models.ts';

type Headers = Readonly<Record<string, string | undefined>>;

/** Other protocols list models on the same path and say so by a header of their own. */
const otherShapes = ['anthropic-version', 'beta-version', 'x-goog-api-client'] as const;
const asksInAnotherShape = (headers: Headers): boolean => otherShapes.some((name) => headers[name] !== undefined);

/** Where callers reach this protocol. */
export const routes: readonly ClientRoute[] = [
  { methods: ['POST'], path: '/v1/chat/completions', match: () => ({ operation: 'generate', stream: null }) },
  { methods: ['POST'], path: '/v1/completions', match: () => ({ operation: 'complete', stream: null }) },
  { methods: ['POST'], path: '/v1/moderations', match: () => ({ operation: 'moderate', stream: 'whole' }) },
  { methods: ['POST'], path: '/v1/decisions', match: () => ({ operation: 'decide', stream: 'whole' }) },
  {
    methods: ['GET'],
    path: '/v1/models',
    match: (_rest, _query, headers) => (asksInAnotherShape(headers) ? null : { operation: 'list-models', stream: 'whole' }),
  },
  { methods: ['GET'], path: modelInfoPath, match: () => ({ operation: 'list-models', stream: 'whole' }) },
  {
    methods: ['GET'],
    path: '/v1/models/',
    match(rest, _query, headers) {
      const model = decodeOnce(rest);
      return model === null || asksInAnotherShape(headers) ? null : { operation: 'get-model', model, stream: 'whole' };
    },
  },
];

/** What official SDKs offer as well. */
export const notServed = [
  { path: '/v1/files', message: 'Files are not kept here: send them inside the request that is about them.' },
  { path: '/v1/uploads', message: 'Files are not kept here: send them inside the request that is about them.' },
  { path: '/v1/vector_stores', message: 'Files are not kept here: send them inside the request that is about them.' },
  { path: '/v1/skills', message: 'Skills are not kept here: send what they say inside the request.' },
  { path: '/v1/assistants', message: 'Assistants are not kept here: send instructions and conversation to /v1/responses.' },
  { path: '/v1/threads', message: 'Threads are not kept here: send the conversation to /v1/responses.' },
  { path: '/v1/audio/voices', message: 'Voices are not made here: name one that the model has.' },
  { path: '/v1/agents', message: 'Agents are not run here: send the conversation to /v1/responses.' },
  { path: '/v1/batches', message: 'Batches are not served here: send their requests one by one.' },
  { path: '/v1/realtime/sessions', message: 'Sessions are not made beforehand: ask for a short-lived key at /v1/realtime/client_secrets.' },
  { path: '/v1/realtime/transcription_sessions', message: 'Sessions are not made beforehand: open the WebSocket at /v1/realtime?intent=transcription.' },
  { path: '/v1/realtime/calls', message: 'Sessions over WebRTC or SIP are not served: open the WebSocket at /v1/realtime.' },
  { path: '/v1/live/sessions', message: 'Sessions over WebRTC or SIP are not served: open the WebSocket at /v1/live/sessions.' },
  {
    path: '/api-ws/v1/inference',
    message: 'Task sockets of DashScope are not served: speech is made at /v1/audio/speech, and sessions are opened at /v1/realtime.',
  },
  { path: '/api-ws/v1/realtime', message: 'Sessions are opened at /v1/realtime, also those of DashScope.' },
  { path: '/v2/chat', message: 'Cohere’s chat is not served: ask for chat completions, with a client of OpenAI’s and a base address that ends in /v1.' },
  { path: '/v1/embed', message: 'Embeddings in the shape of Cohere are served at /v2/embed, where its ClientV2 asks for them.' },
  { path: '/v1/videos', message: 'Videos are not served on this path.' },
];

/** One segment, percent-decoded exactly once; null when empty, several, or not decodable. */
function decodeOnce(text: string): string | null {
  if (text.includes('/')) return null;
  try {
    return decodeURIComponent(text) || null;
  } catch {
    // A stray `%` names no model: the path is unknown, which is a 404 and no defect.
    return null;
  }
}
