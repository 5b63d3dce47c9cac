/** OpenAI-compatible images: built on chat completions, whose errors, keys and addresses it shares. */
import { alpha, imagesClient } from '../alpha/index.ts';
import type { ClientAdapter, ClientRoute, Protocol, UpstreamAdapter } from '../contract/index.ts';
import { ErrorTerminator } from '../kit/error-terminator.ts';
import { asReplies, figure } from '../kit/reply-limits.ts';

/** As many as models of today count an image of high quality as; only the largest have more. */
const imageTokens = 8_192;

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
    limitKeys: ['n'],
    readReplyLimits(value) {
      const images = asReplies(figure(value('n')));
      return { output: imageTokens, thinking: 0, replies: images, images };
    },
    bodyWords: [],
    createTerminator: () => new ErrorTerminator(['.completed"']),
    testCalls: {
      image: ({ model, prompt, body }) => ({ path: '/v1/images/generations', query: '', streamForm: 'whole', body: { prompt, ...body, model } }),
      'image-edit': ({ model, prompt, body }) => ({
        path: '/v1/images/edits',
        query: '',
        streamForm: 'whole',
        body: { prompt, ...body, model },
        fileField: 'image',
      }),
    },
    unary: { image: imagesClient('generate'), 'image-edit': imagesClient('edit'), 'image-variation': imagesClient('vary') },
  },
  upstream: { ...upstream, serves: () => ['image', 'image-edit', 'image-variation'] },
};
