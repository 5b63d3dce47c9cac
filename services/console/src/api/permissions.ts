/** Who may use which route: the one table of path × method × role. What does not stand here is refused to everybody. */
import type { ConsoleRole } from '@model-gateway/storage';
import { base, type Route, withoutTextForm } from './route.ts';

/** `public`: without a credential. */
type Access = 'public' | readonly ConsoleRole[];
type Methods = Partial<Record<Route['method'], Access>>;

const everyone: Access = ['admin', 'monitor'];
const admin: Access = ['admin'];
/** Members too, who see what is their own: no route that takes these says anything of others. */
const anybody: Access = ['admin', 'monitor', 'member'];

/** A list and its entries: monitors read, admins change. */
const resource = (path: string): Record<string, Methods> => ({
  [path]: { get: everyone, post: admin },
  [`${path}/{name}`]: { get: everyone, put: admin, patch: admin, delete: admin },
});

const relative: Record<string, Methods> = {
  // Signing in, and one's own account.
  'sign-in-options': { get: 'public' },
  login: { post: 'public' },
  'oidc/start': { get: 'public' },
  'oidc/callback': { get: 'public' },
  'oidc/exchange': { post: 'public' },
  logout: { post: anybody },
  me: { get: anybody },
  'me/password': { post: anybody },
  sessions: { get: anybody, delete: anybody },
  'sessions/{id}': { delete: anybody },
  'openapi.json': { get: anybody },

  // The own keys, and what they did.
  'my/groups': { get: anybody },
  'my/keys': { get: anybody, post: anybody },
  'my/keys/{name}': { patch: anybody, delete: anybody },
  'my/keys/{name}/rotate': { post: anybody },
  'my/keys/{name}/api-key': { get: anybody },
  'my/requests': { get: anybody },
  'my/costs': { get: anybody },

  // Users: names and roles of others are none of a monitor's business.
  users: { get: admin, post: admin },
  'users/{username}': { get: admin, put: admin, patch: admin, delete: admin },
  'users/{username}/password': { post: admin },

  // Configuration.
  ...resource('upstreams'),
  'upstreams/{name}/fetch-models': { post: admin },
  'upstreams/{name}/test': { post: admin },
  ...resource('models'),
  ...resource('load-balancers'),
  'load-balancers/{name}/nodes': { get: everyone },
  'load-balancers/{name}/pins': { get: everyone, post: admin, put: admin },
  'load-balancers/{name}/pins/{access_key}': { get: everyone, put: admin, delete: admin },
  ...resource('key-groups'),
  ...resource('access-keys'),
  'access-keys/{name}/rotate': { post: admin },
  'access-keys/{name}/end-overlap': { post: admin },
  'access-keys/{name}/use': { get: everyone },
  'access-keys/{name}/accept-addresses': { post: admin },
  // The full value of a key: a monitor reads, but does not call models with the keys of others.
  'access-keys/{name}/api-key': { get: admin },
  '/access-keys/{name}/api-key': { get: admin },
  // Whose a value is that somebody found.
  'access-keys/lookup': { post: admin },
  ...resource('pricing'),
  ...resource('mcp-servers'),
  'mcp-status': { get: everyone },
  'mcp-servers/{name}/tools': { get: everyone },
  'mcp-servers/{name}/refresh': { post: admin },
  'mcp-servers/{name}/approve-tools': { post: admin },
  'mcp-servers/{name}/call': { post: admin },
  ...resource('search-providers'),
  'search-config': { get: everyone, put: admin, patch: admin },
  'alert-channels': { get: admin, post: admin },
  'alert-channels/{name}': { get: admin, put: admin, patch: admin, delete: admin },
  'alert-channels/{name}/test': { post: admin },
  'alert-messages': { get: admin },
  'access-keys/{name}/tell-owner': { post: admin },
  'sso-profiles': { get: everyone },
  'sso-credentials': { get: everyone },
  'sso-credentials/{name}': { get: everyone, put: admin, patch: admin, delete: admin },
  'sso-credentials/import': { post: admin },
  'sso-credentials/login': { post: admin },
  'sso-credentials/login/{id}': { get: admin },
  'sso-credentials/login/{id}/complete': { post: admin },
  'sso-credentials/{name}/refresh': { post: admin },
  batch: { post: admin },
  // Holds sealed secrets.
  export: { get: admin },
  import: { post: admin },
  'import/convert': { post: admin },
  history: { get: admin },
  'history/{revision}': { get: admin },
  'history/{revision}/diff': { get: admin },
  'history/{revision}/rollback': { post: admin },
  'audit-logs': { get: admin },

  // Looking on.
  find: { post: everyone },
  logs: { get: everyone },
  'logs/stream': { get: everyone },
  'logs/{id}': { get: everyone },
  // What callers wrote and were answered.
  'logs/bodies': { get: admin },
  'logs/{id}/bodies': { get: admin },
  // Which turns there are; what they hold is what callers wrote.
  'logs/{id}/turns': { get: everyone },
  'access-keys/{name}/turns': { delete: admin },
  'access-keys/{name}/turns/{turn}': { get: admin, delete: admin },
  // Which tasks there are; what they made is their owners'.
  tasks: { get: everyone },
  'tasks/{id}': { delete: admin },
  // Parts of messages that nobody could read.
  'dead-letters': { get: admin },
  'dead-letters/{id}': { delete: admin },
  attention: { get: everyone },
  health: { get: everyone },
  'model-monitor': { get: everyone },
  'rate-limit-status': { get: everyone },
  'stats/summary': { get: everyone },
  'stats/series': { get: everyone },
  'stats/top': { get: everyone },
  'stats/spend': { post: everyone },
  'stats/attempts': { get: everyone },
  'stats/sessions': { get: everyone },
  budgets: { get: everyone },
  'budgets/{kind}/{name}/top-up': { post: admin },
  'budgets/{kind}/{name}/reset': { post: admin },
  'route/explain': { post: everyone },
  'route/operations': { get: everyone },

  // Trying: makes calls that cost money, or runs what was sent.
  'models/test': { post: admin },
  'scripts/test': { post: admin },
  'rules/test': { post: admin },
  'scripts/types': { get: everyone },
};

const table = new Map(Object.entries(relative).map(([path, methods]) => [path.startsWith('/') ? path : `${base}/${path}`, methods]));

/** undefined: the route stands nowhere. */
export const permissionsOf = (path: string, method: string): Access | undefined => {
  const methods = table.get(withoutTextForm(path));
  return methods && Object.hasOwn(methods, method) ? methods[method as Route['method']] : undefined;
};

export const isPublic = (route: Pick<Route, 'path' | 'method'>): boolean => permissionsOf(route.path, route.method) === 'public';

/** Whether somebody who is signed in with this role may use the route. */
export function mayUse(role: ConsoleRole, route: Pick<Route, 'path' | 'method'>): boolean {
  const access = permissionsOf(route.path, route.method);
  return access === 'public' || (access?.includes(role) ?? false);
}
