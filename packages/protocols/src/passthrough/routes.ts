import type { ClientRoute } from '../contract/index.ts';
import { isPlainRest, splitModel } from './raw-path.ts';

export const modelPrefix = '/v3/';
export const servicesPrefix = '/v1/services/';

/** Where callers speak an upstream's own terms. Replies pass as bytes, whatever they are. */
export const routes: readonly ClientRoute[] = [
  {
    methods: ['POST'],
    path: servicesPrefix,
    // What is no path of a service has no other method either.
    match: (rest) => (isPlainRest(rest) ? { operation: 'native', stream: 'bytes' } : null),
  },
  {
    methods: ['POST', 'GET', 'PUT', 'PATCH', 'DELETE'],
    path: modelPrefix,
    match(text) {
      const found = splitModel(text);
      return found && { operation: 'passthrough', model: found.model, stream: 'bytes', body: 'raw' };
    },
  },
];
