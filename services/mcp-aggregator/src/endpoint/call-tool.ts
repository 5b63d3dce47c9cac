/** `tools/call`: the same decision as for lists, then the server's limits, then the server. */
import { isObject, mcpStatePrefix } from '@model-gateway/contracts';
import { GatewayError, isGatewayError } from '@model-gateway/contracts/errors';
import { isServerVisible, isToolAllowed } from '../access/decide.ts';
import { RpcError } from '../protocol/json-rpc.ts';
import { paramHeaderFault, paramHeaders } from '../protocol/param-headers.ts';
import { elementsOf, membersOfText, parseJson } from '../protocol/raw-json.ts';
import { errorCodes, metaKeys } from '../protocol/versions.ts';
import { ServerFault } from '../servers/http.ts';
import type { PeerReply } from '../servers/peer.ts';
import type { PeerUser } from '../servers/pool.ts';
import type { McpServer } from '../servers/server.ts';
import { sleep } from '../servers/session-peer.ts';
import type { Tool } from '../servers/tool.ts';
import { defaultResults, maxResults } from '../tools/search.ts';
import { searchToolName } from '../tools/views.ts';
import { askable } from './ask-inputs.ts';
import type { Asked, EndpointContext } from './context.ts';
import { Conversation, type HeldCall } from './conversation.ts';
import { paramsOf } from './incoming.ts';
import { relay } from './relay.ts';
import type { Session } from './sessions.ts';

/** What a call means. */
interface Target {
  server: McpServer;
  tool: string;
  /** undefined: the server offers it to this session alone. */
  known: Tool | undefined;
}

const unknownTool = (name: string): RpcError => new RpcError(errorCodes.invalidParams, `Unknown tool: ${name.slice(0, 200)}`);
const unavailable = (server: McpServer): RpcError =>
  new RpcError(errorCodes.server, `The MCP server ${server.name} is not available.`, { data: { code: 'server_unavailable' } });

/** How long a call waits for the tools of a server that were never loaded. */
const readyMs = 10_000;
/** Tools asked for again when a call names one that is not known. */
const freshMs = 5_000;

export async function callTool(asked: Asked, context: EndpointContext): Promise<string> {
  const params = paramsOf(asked);
  const { name } = params;
  if (typeof name !== 'string') throw new RpcError(errorCodes.invalidParams, 'Invalid params: name must be a string');
  if (params['arguments'] !== undefined && !isObject(params['arguments']))
    throw new RpcError(errorCodes.invalidParams, 'Invalid params: arguments must be an object');
  if (asked.scope === null && name === searchToolName) return searchAsTool(asked, params['arguments'], context);
  const target = await findTool(name, asked, context);
  return run(name, target, params['arguments'], asked, context);
}

/** Throws the error of a name that never was for tools that the caller may not call. */
async function findTool(name: string, asked: Asked, context: EndpointContext): Promise<Target> {
  const { caller, scope } = asked;
  const candidate = scope ? { server: scope, tool: name } : splitName(name, asked, context);
  if (!candidate) throw unknownTool(name);
  const { server } = candidate;
  const { tags } = server.record;
  const isVisible = isServerVisible(caller.acl, { server: server.name, tags });
  if (!server.isWell && isVisible && mayCall(candidate, caller.acl)) throw unavailable(server);
  const loaded = (one: McpServer): void => context.records.loaded(asked.exchange, one.name, one.tools?.length ?? 0);
  // Nobody without a grant makes the gateway ask a server.
  if (server.tools === undefined && server.isWell && isVisible) {
    await loadInTime(server, asked.signal);
    if (server.tools !== undefined && server.record.defer_loading) loaded(server);
  }
  const find = (): Target | undefined => {
    const found = context.views.now(caller, scope).byName.get(name);
    return found && { server: found.server, tool: found.tool.name, known: found.tool };
  };
  const found = find();
  if (found) return found;
  const allowed = isToolAllowed(caller.acl, { server: server.name, tags, tool: candidate.tool });
  if (!allowed) {
    context.records.violation(asked.exchange, server.name, candidate.tool);
    throw unknownTool(name);
  }
  if (server.tools === undefined) throw unavailable(server);
  if (server.toolsAge > freshMs) await server.reload().catch(() => undefined);
  const again = find();
  if (again) return again;
  if (scope && (await isOfSession(scope, name, asked))) return { server: scope, tool: name, known: undefined };
  throw unknownTool(name);
}

/** A server that does not get ready in time has failed the call. */
async function loadInTime(server: McpServer, signal: AbortSignal): Promise<void> {
  const late = new AbortController();
  try {
    const tooLate = sleep(readyMs, AbortSignal.any([late.signal, signal])).then(() => {
      throw new ServerFault(`The server did not get ready within ${readyMs / 1000} s.`);
    });
    await Promise.race([server.load(), tooLate]);
  } catch (error) {
    if (!signal.aborted) server.noteCall(error);
  } finally {
    late.abort();
  }
}

/** By the tool's own name, where it is known: with another separator its dots were listed as underscores. */
function mayCall({ server, tool }: { server: McpServer; tool: string }, acl: Asked['caller']['acl']): boolean {
  const known = server.tools?.filter(({ name }) => name === tool || name.replaceAll('.', '_') === tool).map(({ name }) => name) ?? [];
  return [tool, ...known].some((name) => isToolAllowed(acl, { server: server.name, tags: server.record.tags, tool: name }));
}

/** Names of servers have no dot; with `__` the longest name that fits is meant. */
function splitName(name: string, { caller }: Asked, { registry }: EndpointContext): { server: McpServer; tool: string } | null {
  const dot = name.indexOf('.');
  const dotted = dot > 0 ? registry.find(name.slice(0, dot)) : undefined;
  if (dotted) return { server: dotted, tool: name.slice(dot + 1) };
  const fitting = registry.servers.filter(
    (server) => name.startsWith(`${server.name}__`) && isServerVisible(caller.acl, { server: server.name, tags: server.record.tags }),
  );
  const [best] = fitting.sort((a, b) => b.name.length - a.name.length);
  return best ? { server: best, tool: name.slice(best.name.length + 2) } : null;
}

/** The caller's own connection to a server. */
export const userOf = ({ caller, session, scope, ...asked }: Pick<Asked, 'caller' | 'session' | 'scope'> & Partial<Asked>): PeerUser => ({
  owner: caller.facts.owner,
  session: session?.id ?? null,
  capabilities: session?.capabilities ?? (asked.era === 'modern' ? JSON.stringify(askableNow({ params: asked.params })) : '{}'),
  prefersSession: session !== null && (scope !== null || session.capabilities !== '{}'),
});

/** What a caller of the newer era says with each request that it can be asked for. */
function askableNow(asked: Pick<Asked, 'params'>): Record<string, unknown> {
  const meta = parseJson(membersOfText(asked.params ?? '{}', ['_meta'])?._meta ?? '{}');
  return askable(isObject(meta) ? meta[metaKeys.capabilities] : undefined);
}

/** What a server says beside its answers goes to those who listen in the session. */
export const notifierOf = (session: Session | null) =>
  session === null
    ? undefined
    : ({ method, params }: { method: string; params: string | undefined }): void => {
        for (const listener of session.listeners)
          listener.event(`{"jsonrpc":"2.0","method":${JSON.stringify(method)}${params === undefined ? '' : `,"params":${params}`}}`);
      };

/** Some servers offer tools to one session alone. */
async function isOfSession(server: McpServer, name: string, asked: Asked): Promise<boolean> {
  if (asked.session === null) return false;
  try {
    const tools = await server.toolsOfSession(userOf(asked), notifierOf(asked.session), asked.signal);
    return tools?.some((tool) => tool.name === name) === true;
  } catch {
    return false;
  }
}

async function run(name: string, { server, tool, known }: Target, args: unknown, asked: Asked, context: EndpointContext): Promise<string> {
  const { exchange, caller, era, reply, signal } = asked;
  if (known && era === 'modern') {
    const fault = paramHeaderFault(known.paramHeaders, args, exchange.headers);
    if (fault !== null) throw new RpcError(errorCodes.headerMismatch, `Bad Request: ${fault}`, { status: 400 });
  }
  const startedAt = Date.now();
  const began = performance.now();
  const argumentBytes = Buffer.byteLength(membersOfText(asked.params ?? '{}', ['arguments'])?.arguments ?? '');
  let queueMs = 0;
  const tokens = Math.ceil(argumentBytes / 4);
  const finish = (status: number, errorCode: string | null, resultBytes: number): void =>
    context.records.finished({
      exchange,
      requested: name,
      server: server.name,
      tool,
      startedAt,
      ms: { queue: queueMs, whole: performance.now() - began },
      ...(signal.aborted ? endOf(signal) : { status, errorCode }),
      bytes: { arguments: argumentBytes, result: resultBytes },
      stream: reply.streaming,
      session: asked.session?.id ?? null,
    });
  const begin = async (): Promise<HeldCall> => {
    const { max_concurrency, rate_limit } = server.record;
    const entered = await server.limits.enter({ max_concurrency, rate_limit, owner: caller.facts.owner, tokens, signal });
    queueMs = performance.now() - began;
    const conversation = new Conversation(era === 'modern' ? askableNow(asked) : {}, reply);
    const relayed = {
      ...asked,
      ...(tool !== name && { rename: tool }),
      headers: paramHeaders(known?.paramHeaders ?? [], args),
      version: context.version,
      ...(era === 'modern' && { conversation, signal: conversation.signal }),
    };
    const work = server.use(userOf(asked), notifierOf(asked.session), (peer) => relay(peer, relayed));
    // The place is held until the server has answered, however many exchanges that takes.
    const leave = (answer?: PeerReply): void => entered.leave(tokens + (answer?.kind === 'result' ? Math.ceil(Buffer.byteLength(answer.result) / 4) : 0));
    work.then(leave, () => leave());
    return { conversation, work, owner: caller.facts.owner, target: { server: server.name, tool } };
  };
  const waiting = resumed(asked, { server: server.name, tool }, context);
  try {
    const call = waiting ?? (await begin());
    const answer = await call.conversation.next(call.work, signal);
    if (answer === null) {
      const state = context.held.hold(call);
      const result = `{"resultType":"input_required","inputRequests":${call.conversation.print()},"requestState":"${state}",${ownResultMeta(context.version)}}`;
      finish(200, null, Buffer.byteLength(result));
      return result;
    }
    noteHealth(server, answer);
    if (answer.kind === 'error') {
      finish(200, `rpc_${answer.code}`, answer.error.length);
      throw new ServersError(answer.error, answer.code);
    }
    const bytes = Buffer.byteLength(answer.result);
    finish(200, membersOfText(answer.result, ['isError'])?.isError === 'true' ? 'tool_error' : null, bytes);
    return answer.result;
  } catch (error) {
    if (error instanceof ServersError) throw error;
    if (error instanceof RpcError) {
      finish(429, 'rate_limited', 0);
      throw error;
    }
    if (!(error instanceof ServerFault)) throw error;
    if (!signal.aborted) server.noteCall(error);
    finish(502, 'upstream_error', 0);
    throw new RpcError(errorCodes.server, `The MCP server ${server.name}: ${error.message}`, { data: { code: 'server_failed' } });
  }
}

/** Why nobody waits for a call any more: its caller has left, or cancelled it, or a process that serves it leaves. */
function endOf({ reason }: AbortSignal): { status: number; errorCode: string } {
  const { status, code } = isGatewayError(reason) ? reason : new GatewayError('client_gone');
  return { status, errorCode: code };
}

/** The call that waits for what this request answers; undefined: it is a call of its own. Throws RpcError. */
function resumed(asked: Asked, target: HeldCall['target'], { held }: EndpointContext): HeldCall | undefined {
  if (asked.era !== 'modern' || !asked.params?.includes(mcpStatePrefix)) return undefined;
  const { requestState, inputResponses, _meta: meta } = paramsOf(asked);
  const call = held.resume(requestState, asked.caller.facts.owner, target);
  if (!call) return undefined;
  call.conversation.reply = asked.reply;
  call.conversation.progressToken = isObject(meta) ? meta['progressToken'] : undefined;
  call.conversation.take(isObject(inputResponses) ? inputResponses : {});
  return call;
}

/** An error that a server answered, as it wrote it. */
export class ServersError extends Error {
  readonly text: string;
  readonly code: number;

  constructor(text: string, code: number) {
    super('the server answered with an error');
    this.text = text;
    this.code = code;
  }
}

/** What a server refuses for its own reasons is no sign of illness; statuses of 500 and more, and refused credentials, are. */
function noteHealth(server: McpServer, answer: PeerReply): void {
  if (answer.kind === 'result') return server.noteCall(answer.fault === undefined ? undefined : new ServerFault(answer.fault));
  const ill = answer.status >= 500 || answer.status === 401 || answer.status === 403;
  server.noteCall(ill ? new ServerFault(`The server answered ${answer.status}.`) : undefined);
}

/** Tools found by keywords, as JSON text of an array. Throws RpcError. */
export async function searchTools(asked: Asked, given: unknown, context: EndpointContext): Promise<string> {
  const { query, limit = defaultResults } = isObject(given) ? given : {};
  if (typeof query !== 'string') throw new RpcError(errorCodes.invalidParams, 'Invalid params: query must be a string');
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > maxResults)
    throw new RpcError(errorCodes.invalidParams, `Invalid params: limit must be a whole number from 1 to ${maxResults}`);
  const unbounded = { ...asked.caller, maxToolTokens: null };
  const view = await context.views.see(unbounded, asked.scope, (server) => context.records.loaded(asked.exchange, server.name, server.tools?.length ?? 0));
  const wanted = new Set(
    view
      .index()
      .search(query, limit)
      .map(({ name }) => name),
  );
  const texts = elementsOf(view.list) ?? [];
  const byName = new Map(texts.map((text) => [JSON.parse(membersOfText(text, ['name'])?.name ?? '""') as string, text]));
  return `[${[...wanted]
    .map((name) => byName.get(name) ?? '')
    .filter((text) => text !== '')
    .join(',')}]`;
}

async function searchAsTool(asked: Asked, args: unknown, context: EndpointContext): Promise<string> {
  const found = `{"tools":${await searchTools(asked, args, context)}}`;
  const result = `{"content":[{"type":"text","text":${JSON.stringify(found)}}],"structuredContent":${found}`;
  return asked.era === 'modern' ? `${result},"resultType":"complete"}` : `${result}}`;
}

/** `_meta` of what the gateway answers by itself in modern terms. `more`: JSON text of further members. */
export const ownResultMeta = (version: string, more = ''): string =>
  `"_meta":{"${metaKeys.server}":{"name":"model-gateway","version":${JSON.stringify(version)}}${more === '' ? '' : `,${more}`}}`;
