/** What callers may ask: each method's answer, as the JSON text of a result. */
import { isObject } from '@model-gateway/contracts';
import { isToolAllowed, isWholeServerAllowed } from '../access/decide.ts';
import { printNotification, RpcError } from '../protocol/json-rpc.ts';
import { errorCodes, metaKeys, modernVersions, newestSessionVersion, sessionVersions } from '../protocol/versions.ts';
import { ServerFault } from '../servers/http.ts';
import type { PeerInfo } from '../servers/peer.ts';
import type { McpServer } from '../servers/server.ts';
import type { Tool } from '../servers/tool.ts';
import { callTool, notifierOf, ownResultMeta, ServersError, searchTools, userOf } from './call-tool.ts';
import type { Asked, EndpointContext } from './context.ts';
import { paramsOf } from './incoming.ts';
import { relay } from './relay.ts';

type Method = (asked: Asked, context: EndpointContext) => Promise<string>;

/** How long a list may be kept, in ms: listeners are notified of changes at once. */
const listTtlMs = 30_000;

const methodNotFound = (): RpcError => new RpcError(errorCodes.methodNotFound, 'Method not found', {});

/** A result of the gateway's own in the terms of the caller's era. `members`: JSON text without braces. */
function ownResult({ era }: Asked, { version }: EndpointContext, members: string, cached = false): string {
  if (era === 'session') return `{${members}}`;
  const rest = `"resultType":"complete"${cached ? `,"ttlMs":${listTtlMs},"cacheScope":"private"` : ''},${ownResultMeta(version)}`;
  return members === '' ? `{${rest}}` : `{${members},${rest}}`;
}

/** What a caller can do at this address, as JSON text. */
async function capabilitiesOf(asked: Asked): Promise<{ capabilities: string; instructions: string | undefined }> {
  const { scope, caller } = asked;
  if (scope === null) return { capabilities: '{"tools":{"listChanged":true}}', instructions: undefined };
  const info = await scope
    .use({ ...userOf({ caller, session: null, scope }), prefersSession: asked.era === 'session' }, undefined, async (peer): Promise<PeerInfo> => peer.info)
    .catch(() => null);
  const offered = info?.capabilities ?? {};
  const whole = isWholeServerAllowed(caller.acl, { server: scope.name });
  const kept = ['resources', 'prompts', 'completions', 'logging'].filter((name) => whole && isObject(offered[name]));
  const capabilities = { tools: { listChanged: true }, ...Object.fromEntries(kept.map((name) => [name, offered[name]])) };
  return { capabilities: JSON.stringify(capabilities), instructions: info?.instructions };
}

const initialize: Method = async (asked, context) => {
  const { protocolVersion, capabilities } = paramsOf(asked);
  if (typeof protocolVersion !== 'string') throw new RpcError(errorCodes.invalidParams, 'Invalid params: protocolVersion must be a string');
  const version = sessionVersions.includes(protocolVersion) ? protocolVersion : newestSessionVersion;
  const { capabilities: own, instructions } = await capabilitiesOf(asked);
  const session = context.sessions.open({
    owner: asked.caller.facts.owner,
    scope: asked.scope?.name ?? null,
    version,
    capabilities: isObject(capabilities) ? JSON.stringify(capabilities) : '{}',
  });
  if (session) asked.reply.setHeader('mcp-session-id', session.id);
  const info = `{"name":"model-gateway","version":${JSON.stringify(context.version)}}`;
  return `{"protocolVersion":"${version}","capabilities":${own},"serverInfo":${info}${instructions === undefined ? '' : `,"instructions":${JSON.stringify(instructions)}`}}`;
};

const discover: Method = async (asked, context) => {
  const { capabilities, instructions } = await capabilitiesOf(asked);
  const supported = JSON.stringify([...modernVersions, ...sessionVersions]);
  const words = instructions === undefined ? '' : `,"instructions":${JSON.stringify(instructions)}`;
  return ownResult(asked, context, `"supportedVersions":${supported},"capabilities":${capabilities}${words}`, true);
};

const listTools: Method = async (asked, context) => {
  const { cursor } = paramsOf(asked);
  if (cursor !== undefined && cursor !== null) throw new RpcError(errorCodes.invalidParams, 'Invalid params: the list has one page alone');
  const own = asked.scope ? await listOfSession(asked.scope, asked) : null;
  if (own !== null) return ownResult(asked, context, `"tools":[${own.join(',')}]`, true);
  const view = await context.views.see(asked.caller, asked.scope, (server) => context.records.loaded(asked.exchange, server.name, server.tools?.length ?? 0));
  const stale = context.views.staleOf(asked.caller, asked.scope);
  return stale.length === 0 ? ownResult(asked, context, `"tools":${view.list}`, true) : staleList(asked, context, view.list, stale);
};

/** A list that is not whole, or may not be true any more: it names the servers in question, and is not to be kept. */
function staleList({ era }: Asked, { version }: EndpointContext, list: string, stale: readonly string[]): string {
  const mark = `"model-gateway/stale":${JSON.stringify(stale)}`;
  if (era === 'session') return `{"tools":${list},"_meta":{${mark}}}`;
  return `{"tools":${list},"resultType":"complete","ttlMs":0,"cacheScope":"private",${ownResultMeta(version, mark)}}`;
}

/** A server that keeps something for the caller's session may offer it other tools. null: it does not. */
async function listOfSession(server: McpServer, asked: Asked): Promise<string[] | null> {
  const { session, caller, signal } = asked;
  const peer = session && server.findPeer(userOf(asked));
  if (!peer?.hasState || !server.isWell) return null;
  try {
    const tools = await server.toolsOfSession(userOf(asked), notifierOf(session), signal);
    const mayCall = ({ name }: Tool): boolean => isToolAllowed(caller.acl, { server: server.name, tags: server.record.tags, tool: name });
    return tools?.filter(mayCall).map(({ text }) => text) ?? null;
  } catch {
    return null;
  }
}

const search: Method = async (asked, context) => ownResult(asked, context, `"tools":${await searchTools(asked, paramsOf(asked), context)}`);

/** What is passed on to the one server that is spoken to. */
const passOn: Method = async (asked, context) => {
  const { scope, caller } = asked;
  if (!scope || !isWholeServerAllowed(caller.acl, { server: scope.name })) throw methodNotFound();
  if (!scope.isWell) throw new RpcError(errorCodes.server, `The MCP server ${scope.name} is not available.`, { data: { code: 'server_unavailable' } });
  try {
    const answer = await scope.use(userOf(asked), notifierOf(asked.session), (peer) => relay(peer, { ...asked, version: context.version }));
    if (answer.kind === 'error') throw new ServersError(answer.error, answer.code);
    return answer.result;
  } catch (error) {
    if (!(error instanceof ServerFault)) throw error;
    if (!asked.signal.aborted) scope.noteCall(error);
    throw new RpcError(errorCodes.server, `The MCP server ${scope.name}: ${error.message}`, { data: { code: 'server_failed' } });
  }
};

/** A stream that stays open: what changed is said on it. */
const listen: Method = async (asked, context) => {
  const { scope, caller } = asked;
  if (!isObject(paramsOf(asked)['notifications'])) throw new RpcError(errorCodes.invalidParams, 'Invalid params: notifications must be an object');
  // One server is spoken to, and all of it may be used: what it says is passed on as it is.
  if (scope?.isWell && isWholeServerAllowed(caller.acl, { server: scope.name }) && (await listenTo(scope, asked, context))) return listenEnd(asked);
  return listenToLists(asked, context);
};

const listenEnd = ({ id }: Asked): string => `{"resultType":"complete","_meta":{"${metaKeys.subscription}":${id}}}`;

/** false: the server has no such streams. */
async function listenTo(server: McpServer, asked: Asked, context: EndpointContext): Promise<boolean> {
  try {
    const answer = await server.use(userOf(asked), undefined, async (peer) =>
      peer.era === 'modern' ? relay(peer, { ...asked, version: context.version }) : null,
    );
    if (answer?.kind === 'error') throw new ServersError(answer.error, answer.code);
    return answer !== null;
  } catch (error) {
    if (!(error instanceof ServerFault)) throw error;
    // The caller has left, or the server ended the stream: then callers open another one.
    if (asked.signal.aborted || asked.reply.streaming) return true;
    throw new RpcError(errorCodes.server, `The MCP server ${server.name}: ${error.message}`, { data: { code: 'server_failed' } });
  }
}

/** Of all that may be asked for, changes of the list of tools are what the gateway knows. */
function listenToLists(asked: Asked, context: EndpointContext): Promise<string> {
  const { reply, id, signal } = asked;
  const wanted = (paramsOf(asked)['notifications'] as Record<string, unknown>)['toolsListChanged'] === true;
  const subscription = `"_meta":{"${metaKeys.subscription}":${id}}`;
  const honoured = wanted ? '{"toolsListChanged":true}' : '{}';
  reply.event(printNotification('notifications/subscriptions/acknowledged', `{"notifications":${honoured},${subscription}}`));
  const changed = (): void => reply.event(printNotification('notifications/tools/list_changed', `{${subscription}}`));
  const stop = wanted ? watchList(asked, context, changed) : () => undefined;
  return new Promise((resolve) => {
    const end = (): void => {
      stop();
      resolve(listenEnd(asked));
    };
    if (signal.aborted) return end();
    signal.addEventListener('abort', end, { once: true });
  });
}

/** Calls back when what this caller may list has changed. */
export function watchList({ caller, scope }: Pick<Asked, 'caller' | 'scope'>, { registry, views, snapshot }: EndpointContext, changed: () => void): () => void {
  let last = views.now(caller, scope).list;
  return registry.onChange(() => {
    // The group may have been given other rights meanwhile.
    const group = snapshot()?.keyGroups.get(caller.group.name) ?? caller.group;
    const { list } = views.now({ ...caller, group, acl: group.mcp_tool_acl }, scope);
    if (list === last) return;
    last = list;
    changed();
  });
}

const both = { 'tools/list': listTools, 'tools/call': callTool, 'tools/search': search } as const;
const passed = ['resources/list', 'resources/templates/list', 'resources/read', 'prompts/list', 'prompts/get', 'completion/complete'] as const;
const passedInSessions = ['resources/subscribe', 'resources/unsubscribe', 'logging/setLevel'] as const;

const toMethods = (names: readonly string[]): [string, Method][] => names.map((name) => [name, passOn]);

const methods: Record<Asked['era'], ReadonlyMap<string, Method>> = {
  session: new Map<string, Method>([
    ['initialize', initialize],
    ['ping', async () => '{}'],
    ...Object.entries(both),
    ...toMethods([...passed, ...passedInSessions]),
  ]),
  modern: new Map<string, Method>([['server/discover', discover], ['subscriptions/listen', listen], ...Object.entries(both), ...toMethods(passed)]),
};

/** Rejects with RpcError or ServersError. */
export async function answerRequest(asked: Asked, context: EndpointContext): Promise<string> {
  const method = methods[asked.era].get(asked.method);
  if (!method) throw methodNotFound();
  return method(asked, context);
}
