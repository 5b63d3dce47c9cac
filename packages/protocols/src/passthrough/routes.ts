import type { ClientRoute, RouteMatch, TurnsRoute } from '../contract/index.ts';
import { isPlainRest, splitModel } from './raw-path.ts';

export const modelPrefix = '/v3/';
const servicesPrefix = '/v1/services/';
/** Where the vendor's own SDK asks about them. */
const tasksPrefix = '/v1/tasks/';

const taskId = /^[\w.-]{1,200}$/;
const taskPath = /^(?:(.+)\/tasks\/|)([^/]+?)(\/cancel|)$/;

/** `{model}/tasks/{id}`, or the id alone, each with `/cancel` behind it. */
function matchTask(rest: string, named: boolean): (RouteMatch & { turns: TurnsRoute }) | null {
  const [, segment, id = '', cancel] = taskPath.exec(rest) ?? [];
  if (!taskId.test(id) || (segment === undefined) === named) return null;
  const model = segment === undefined ? undefined : decode(segment);
  if (model === null) return null;
  return {
    operation: 'turns',
    stream: 'whole',
    turns: { action: cancel === '' ? 'get-task' : 'cancel-task', target: id, ...(model !== undefined && { model }) },
  };
}

/** What is asked about is read, what is cancelled is posted to. */
const taskRoutes = (path: string, named: boolean): ClientRoute[] =>
  (
    [
      ['GET', 'get-task'],
      ['POST', 'cancel-task'],
    ] as const
  ).map(([method, action]) => ({
    methods: [method],
    path,
    match(rest) {
      const found = matchTask(rest, named);
      return found?.turns.action === action ? found : null;
    },
  }));

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
    ...taskRoutes(base + servicesPrefix, true),
    ...taskRoutes(base + tasksPrefix, false),
    {
      methods: ['POST'],
      path: base + servicesPrefix,
      // A task's path is no service's.
      match: (rest) => (isPlainRest(rest) && !matchTask(rest, true) ? { operation: 'native', stream: 'bytes' } : null),
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
