/** Pictures in the playground. */
import { bearer, type PlaygroundCall, readPictures } from '../../playground/call.ts';

const common = { clientProtocol: 'alpha_images', headers: bearer, readReply: readPictures } as const;

export const playgroundCalls: readonly PlaygroundCall[] = [
  {
    ...common,
    operation: 'image',
    path: '/v1/images/generations',
    fields: ['text', 'size'],
    body: ({ model, text, size }) => ({ model, prompt: text, ...(size && { size }) }),
  },
  {
    ...common,
    operation: 'image-edit',
    path: '/v1/images/edits',
    fields: ['text', 'size'],
    file: { field: 'image', accept: 'image/png,image/jpeg,image/webp' },
    body: ({ model, text, size }) => ({ model, prompt: text, ...(size && { size }) }),
  },
];
