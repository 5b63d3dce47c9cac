/** The caller's paths. `/v1/models` belongs to alpha's folder. */
import type { ClientRoute, RouteMatch } from '../contract/index.ts';

const generate: RouteMatch = { operation: 'generate', stream: null };

const count: RouteMatch = { operation: 'count-tokens', stream: 'whole' };
const compact: RouteMatch = { operation: 'compact', stream: 'whole' };

export const routes: readonly ClientRoute[] = [
  { methods: ['POST'], path: '/v1/responses', socket: true, match: () => generate },
  { methods: ['POST'], path: '/v1/responses/input_tokens', match: () => count },
  { methods: ['POST'], path: '/v1/responses/compact', match: () => compact },
];
