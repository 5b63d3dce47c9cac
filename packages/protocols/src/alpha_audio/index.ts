/** OpenAI-compatible speech and transcriptions: built on chat completions, whose errors, keys and addresses it shares. */
import { alpha, audioEnds, speechClient, transcriptionClient } from '../alpha/index.ts';
import type { ClientAdapter, ClientRoute, Protocol, TestCall, TestCallContext, UpstreamAdapter } from '../contract/index.ts';
import { ErrorTerminator } from '../kit/error-terminator.ts';
import { asString } from '../kit/read.ts';

/** Of text that is read slowly: English has about 15 letters to a second, Chinese four characters of three bytes. */
const spokenBytesPerSecond = 10;

const { client, upstream } = alpha as { client: ClientAdapter; upstream: UpstreamAdapter };

/** Speech comes as bytes unless events are asked for, by a field of its own. Only transcriptions have streams otherwise. */
const routes: readonly ClientRoute[] = [
  {
    methods: ['POST'],
    path: '/v1/audio/speech',
    match: () => ({ operation: 'speech', stream: null, readStream: (value) => (value('stream_format') === 'sse' ? 'sse' : 'bytes') }),
  },
  { methods: ['POST'], path: '/v1/audio/transcriptions', match: () => ({ operation: 'transcribe', stream: null, body: 'form', files: ['file'] }) },
  { methods: ['POST'], path: '/v1/audio/translations', match: () => ({ operation: 'translate-speech', stream: 'whole', body: 'form', files: ['file'] }) },
];

/** The file says what is to be written down; a prompt would only tell what it is about. */
const transcriptionCall =
  (path: string) =>
  ({ model, body }: TestCallContext): TestCall => ({ path, query: '', streamForm: 'whole', body: { ...body, model }, fileField: 'file' });

export const alphaAudio: Protocol = {
  id: 'alpha_audio',
  kind: 'unary',
  title: 'OpenAI-compatible audio',
  client: {
    ...client,
    routes,
    onlyVerbatim: {},
    editedKeys: ['stream_format'],
    limitKeys: ['input'],
    // How long speech becomes is not said, but in its text; how long a file is the file tells.
    readReplyLimits(value) {
      const text = asString(value('input'));
      return { output: 0, thinking: 0, replies: 1, ...(text !== undefined && { seconds: Math.ceil(Buffer.byteLength(text) / spokenBytesPerSecond) }) };
    },
    bodyWords: [],
    createTerminator: () => new ErrorTerminator([...audioEnds.map((name) => `"${name}"`), '\ndata: [DONE]']),
    testCalls: {
      speech: ({ model, prompt, body }) => ({
        path: '/v1/audio/speech',
        query: '',
        streamForm: 'bytes',
        body: { input: prompt, voice: 'alloy', ...body, model },
      }),
      transcribe: transcriptionCall('/v1/audio/transcriptions'),
      'translate-speech': transcriptionCall('/v1/audio/translations'),
    },
    unary: { speech: speechClient, transcribe: transcriptionClient('transcribe'), 'translate-speech': transcriptionClient('translate') },
  },
  upstream: { ...upstream, serves: () => ['speech', 'transcribe', 'translate-speech'] },
};
