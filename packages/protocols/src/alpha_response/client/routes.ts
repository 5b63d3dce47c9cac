/** The caller's paths. `/v1/models` belongs to alpha's folder. */
import type { TurnsAction } from '@model-gateway/contracts';
import type { ClientRoute, RouteMatch } from '../../contract/index.ts';

const generate: RouteMatch = { operation: 'generate', stream: null };

const count: RouteMatch = { operation: 'count-tokens', stream: 'whole' };
const compact: RouteMatch = { operation: 'compact', stream: 'whole' };

/** Longer than any id, also of upstreams that put much into theirs. */
const maxIdLength = 1024;

/** Ids of a path that has the form; `:` stands for one id: `:/items/:`. null: it has another form. */
function idsOf(rest: string, form: string): string[] | null {
  const words = form.split('/');
  const parts = rest.split('/', words.length + 1);
  if (parts.length !== words.length) return null;
  const ids: string[] = [];
  for (const [at, word] of words.entries()) {
    const part = parts[at] ?? '';
    if (word !== ':') {
      if (part !== word) return null;
      continue;
    }
    const id = decoded(part);
    if (id === null || id === '' || id.length > maxIdLength) return null;
    ids.push(id);
  }
  return ids;
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

/** `actions`: what each method does. */
const stored = (path: string, form: string, actions: Readonly<Record<string, TurnsAction>>): ClientRoute => {
  const methods = Object.keys(actions);
  return {
    methods,
    path,
    match(rest, _query, _headers, method = '') {
      const ids = form === '' ? [] : idsOf(rest, form);
      if (ids === null) return null;
      const [target, item] = ids;
      // Of a method that is not of the route only the path is asked about.
      const action = actions[Object.hasOwn(actions, method) ? method : (methods[0] ?? '')];
      if (action === undefined) return null;
      return { operation: 'turns', stream: 'whole', turns: { action, ...(target !== undefined && { target }), ...(item !== undefined && { item }) } };
    },
  };
};

export const routes: readonly ClientRoute[] = [
  { methods: ['POST'], path: '/v1/responses', socket: true, match: () => generate },
  { methods: ['POST'], path: '/v1/responses/input_tokens', match: () => count },
  { methods: ['POST'], path: '/v1/responses/compact', match: () => compact },
  stored('/v1/responses/', ':', { GET: 'get', DELETE: 'delete' }),
  stored('/v1/responses/', ':/cancel', { POST: 'cancel' }),
  stored('/v1/responses/', ':/input_items', { GET: 'input-items' }),
  stored('/v1/conversations', '', { POST: 'create-conversation' }),
  stored('/v1/conversations/', ':', { GET: 'get-conversation', POST: 'update-conversation', DELETE: 'delete-conversation' }),
  stored('/v1/conversations/', ':/items', { GET: 'list-conversation-items', POST: 'add-conversation-items' }),
  stored('/v1/conversations/', ':/items/:', { GET: 'get-conversation-item', DELETE: 'delete-conversation-item' }),
];
