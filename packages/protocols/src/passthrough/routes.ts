import type { ClientRoute, RouteMatch } from '../contract/index.ts';
import { isPlainRest, splitModel } from './raw-path.ts';

export const modelPrefix = '/v3/';
const servicesPrefix = '/v1/services/';
/** Where the vendor's own SDK asks about them. */
const tasksPrefix = '/v1/tasks/';

const taskId = /^[\w.-]{1,200}$/;
const taskPath = /^(?:(.+)\/tasks\/|)([^/]+?)(\/cancel|)$/;

/** `{model}/tasks/{id}`, or the id alone, each with `/cancel` behind it for POST. */
function matchTask(rest: string, method: string | undefined, named: boolean): RouteMatch | null {
  const [, segment, id = '', cancel] = taskPath.exec(rest) ?? [];
  if (!taskId.test(id) || (segment === undefined) === named || (method === 'POST') !== (cancel === '/cancel')) return null;
  const model = segment === undefined ? undefined : decode(segment);
  if (model === null) return null;
  return {
    operation: 'turns',
    stream: 'whole',
    turns: { action: cancel === '' ? 'get-task' : 'cancel-task', target: id, ...(model !== undefined && { model }) },
  };
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

/** As the paths of the vendor are, and with what its SDKs have before them. */
const bases = ['', '/api'];

/** Where callers speak an upstream's own terms. Replies pass as bytes, whatever they are. */
export const routes: readonly ClientRoute[] = [
  ...bases.flatMap((base): ClientRoute[] => [
    {
      methods: ['GET', 'POST'],
      path: base + servicesPrefix,
      match: (rest, _query, _headers, method) => matchTask(rest, method, true),
    },
    {
      methods: ['GET', 'POST'],
      path: base + tasksPrefix,
      match: (rest, _query, _headers, method) => matchTask(rest, method, false),
    },
    {
      methods: ['POST'],
      path: base + servicesPrefix,
      // What is no path of a service has no other method either.
      match: (rest) => (isPlainRest(rest) && !matchTask(rest, 'POST', true) ? { operation: 'native', stream: 'bytes' } : null),
    },
  ]),
  {
    methods: ['POST', 'GET', 'PUT', 'PATCH', 'DELETE'],
    path: modelPrefix,
    match(text) {
      const found = splitModel(text);
      return found && { operation: 'passthrough', model: found.model, stream: 'bytes', body: 'raw' };
    },
  },
];
