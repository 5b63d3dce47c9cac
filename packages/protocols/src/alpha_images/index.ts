/** OpenAI-compatible images: built on chat completions, whose errors, keys and addresses it shares. */
import { alpha, imagesClient } from '../alpha/index.ts';
import type { ClientAdapter, ClientRoute, Protocol, UpstreamAdapter } from '../contract/index.ts';
import { ErrorTerminator } from '../kit/error-terminator.ts';

const { client, upstream } = alpha as { client: ClientAdapter; upstream: UpstreamAdapter };

/** Whether a stream is wanted is a field of the body. Variations are made by older models, which have no streams. */
const routes: readonly ClientRoute[] = [
  { methods: ['POST'], path: '/v1/images/generations', match: () => ({ operation: 'image', stream: null }) },
  { methods: ['POST'], path: '/v1/images/edits', match: () => ({ operation: 'image-edit', stream: null, body: 'either', files: ['image'] }) },
  { methods: ['POST'], path: '/v1/images/variations', match: () => ({ operation: 'image-variation', stream: 'whole', body: 'form', files: ['image'] }) },
];

export const alphaImages: Protocol = {
  id: 'alpha_images',
  kind: 'unary',
  title: 'OpenAI-compatible images',
  client: {
    ...client,
    routes,
    onlyVerbatim: {},
    editedKeys: [],
    limitKeys: [],
    // What an image is in tokens, nobody knows before.
    readReplyLimits: () => ({ output: 0, thinking: 0, replies: 1 }),
    bodyWords: [],
    createTerminator: () => new ErrorTerminator(['.completed"']),
    testCall: ({ model, prompt, body }) => ({ path: '/v1/images/generations', query: '', streamForm: 'whole', body: { prompt, ...body, model } }),
    unary: { image: imagesClient('generate'), 'image-edit': imagesClient('edit'), 'image-variation': imagesClient('vary') },
  },
  upstream: { ...upstream, serves: () => ['image', 'image-edit', 'image-variation'] },
};
