/** Names for the schemas of the API's document, so that generated clients have types: `AccessKey`, `UpstreamInput`, and for all others the operation's name. */
import type { FieldShape } from '@model-gateway/contracts/fields';
import type { Route } from './route.ts';

/** A schema's name in the document, and whose fields it has. */
export interface ComponentName {
  name: string;
  shape?: FieldShape;
}

/** By the end of operation ids. */
const resources: Readonly<Record<string, Required<ComponentName>>> = {
  upstreams: { name: 'Upstream', shape: 'upstream' },
  models: { name: 'Model', shape: 'model' },
  load_balancers: { name: 'LoadBalancer', shape: 'load_balancer' },
  key_groups: { name: 'KeyGroup', shape: 'key_group' },
  access_keys: { name: 'AccessKey', shape: 'access_key' },
  pricing: { name: 'Price', shape: 'price' },
  search_providers: { name: 'SearchProvider', shape: 'search_provider' },
  search_config: { name: 'SearchConfig', shape: 'search_config' },
  alert_channels: { name: 'AlertChannel', shape: 'alert_channel' },
  mcp_servers: { name: 'McpServer', shape: 'mcp_server' },
};

/** `read_key_group` → `ReadKeyGroup` */
export const pascalCase = (id: string): string => id.replaceAll(/(?:^|_)(\w)/g, (_whole, letter: string) => letter.toUpperCase());

const resourceOf = (operationId: string, verbs: RegExp) => {
  const [verb = ''] = verbs.exec(operationId) ?? [];
  return verb === '' ? undefined : resources[operationId.slice(verb.length)];
};

/** Of what a route is sent. */
export function nameOfBody({ operationId }: Route): ComponentName {
  const created = resourceOf(operationId, /^create_/);
  if (created) return { ...created, name: `${created.name}Input` };
  const changed = resourceOf(operationId, /^(?:put|patch)_/);
  if (changed) return { ...changed, name: `${changed.name}Change` };
  return { name: `${pascalCase(operationId)}Body` };
}

/** Of what a route answers. `list`: a page whose items have the shape. */
export function nameOfAnswer({ operationId }: Route): ComponentName & { list?: true } {
  const listed = resourceOf(operationId, /^list_/);
  if (listed) return { name: `${listed.name}Page`, shape: listed.shape, list: true };
  return resourceOf(operationId, /^(?:read|create|put|patch)_/) ?? { name: `${pascalCase(operationId)}Answer` };
}
