/** Clients that repeat a turn by themselves need `on_break: auto` on their key group: this explains it, or sets it where that is allowed. */
import { createApiClient } from '../commands/api-client.ts';

export interface OnBreakOptions {
  /** Its name, for the sentence. */
  client: string;
  baseUrl: string;
  /** Access key of the gateway. */
  key: string;
  write: boolean;
  env: NodeJS.ProcessEnv;
}

/** A sentence on what was done or is to be done. A setting that is there stays. */
export async function setOnBreak({ client, baseUrl, key, write, env }: OnBreakOptions): Promise<string> {
  const why = `${client} repeats a turn by itself when its stream breaks off, and may take an ending in the protocol's own words for the end of the task`;
  if (!write || (!env['CONSOLE_SECRET_KEY'] && !env['CONSOLE_PASSWORD']))
    return `${why}: set on_break: auto on its key group, on the console's page Key groups or by this command with --write and CONSOLE_SECRET_KEY.`;
  const api = createApiClient(baseUrl, env);
  const found = await api.call('POST', '/access-keys/lookup', JSON.stringify({ key }), 'application/json');
  const group = found.status === 200 ? (JSON.parse(found.text) as { access_key: { group: string } | null }).access_key?.group : undefined;
  if (group === undefined) return `${why}: set on_break: auto on its key group (the group of this key was not found, the console answered ${found.status}).`;
  const path = `/key-groups/${encodeURIComponent(group)}`;
  const current = (JSON.parse((await api.call('GET', path)).text) as { on_break?: string | null }).on_break ?? null;
  if (current !== null) return `The key group ${group} has on_break: ${current}; it stays. ${why}.`;
  const { status } = await api.call('PATCH', path, JSON.stringify({ on_break: 'auto' }), 'application/json');
  return status === 200
    ? `Set on_break: auto on the key group ${group}: ${why}.`
    : `on_break: auto could not be set on the key group ${group} (${status}): ${why}.`;
}
