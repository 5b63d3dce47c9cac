/** MCP servers as they are now: whether they are well, which tools they have, what changed; a call to try one. */
import type { McpServerStatus, McpToolStatus } from '@model-gateway/contracts';
import { z } from 'zod';
import { actorNameOf, auditOf } from '../audit/audit-of.ts';
import type { ConsoleContext } from '../context.ts';
import { Problem } from '../problem.ts';
import { readInput } from '../validation/read-input.ts';
import { count, instant, text } from './answers/common.ts';
import { isoTime } from './answers/iso-time.ts';
import { base, parameter, type Route } from './route.ts';

const state = z.enum(['unknown', 'healthy', 'unhealthy']);
const stale = z.boolean().describe('Its tools could not be had when they were last asked for');
const health = { name: text, state, reason: text.nullable(), sessions: count, stale, faults: z.array(text) };
const serverStatus = z.strictObject({ ...health, tools: count.nullable() });
const tool = z.strictObject({
  name: text,
  description: text,
  tokens: count.describe('What a model pays for being offered it, estimated'),
  changed: z.boolean().describe('It is not as it was approved'),
  held: z.boolean().describe('For that reason it is not offered'),
  changed_at: instant.nullable(),
});
const toolList = z.strictObject({ ...health, tools: z.array(tool).nullable() });
const approval = z.strictObject({ tools: z.array(z.string().min(1).max(200)).max(5000).nullish().describe('Left out: all that changed') });
const trial = z.strictObject({ tool: z.string().min(1).max(200), arguments: z.record(z.string(), z.json()).default({}) });
const trialAnswer = z.strictObject({ ok: z.boolean(), answer: z.json(), duration_ms: z.number() });

/** A tool may take its time. */
const trialMs = 60_000;

/** What most processes say: the worst state that any of them reports counts, since its callers see it. */
export function mergeStatus(all: readonly McpServerStatus[]): Map<string, McpServerStatus> {
  const merged = new Map<string, McpServerStatus>();
  const rank = { unknown: 0, healthy: 1, unhealthy: 2 } as const;
  for (const one of all) {
    const known = merged.get(one.name);
    if (!known) merged.set(one.name, one);
    else {
      const worse = rank[one.state] > rank[known.state] ? one : known;
      const tools = (one.tools?.length ?? -1) > (known.tools?.length ?? -1) ? one.tools : known.tools;
      merged.set(one.name, { ...worse, tools, sessions: one.sessions + known.sessions, stale: one.stale || known.stale });
    }
  }
  return merged;
}

export const mcpRoutes = (context: ConsoleContext): Route[] => [...statusRoutes(context), ...actionRoutes(context)];

async function find({ storage }: ConsoleContext, name: string) {
  const stored = await storage.catalog.mcpServers.find(name);
  if (!stored) throw new Problem('not_found', 'There is no MCP server of this name.');
  return stored;
}

/** How servers are, and what tools they have. */
function statusRoutes(context: ConsoleContext): Route[] {
  const { gatherer, storage } = context;
  const ask = async (server?: string): Promise<Map<string, McpServerStatus>> => {
    const { answers } = await gatherer.gather('mcp-servers', server === undefined ? {} : { server });
    return mergeStatus(answers.flatMap(({ answer }) => answer.servers));
  };
  const unknown = (name: string): McpServerStatus => ({ name, state: 'unknown', reason: null, sessions: 0, stale: false, tools: null, faults: [] });
  return [
    {
      method: 'get',
      path: `${base}/mcp-status`,
      operationId: 'list_mcp_status',
      summary: 'Whether MCP servers are well, and how many tools they have, as all live aggregators say',
      tag: 'mcp-servers',
      status: 200,
      answer: z.strictObject({ items: z.array(serverStatus) }),
      async handle(_request, response) {
        const statuses = await ask();
        const stored = await storage.catalog.mcpServers.all();
        const items = stored.map(({ document: { name } }) => statuses.get(name) ?? unknown(name));
        response.json({ items: items.map(({ tools, ...one }) => ({ ...one, tools: tools?.length ?? null })) });
      },
    },
    {
      method: 'get',
      path: `${base}/mcp-servers/{name}/tools`,
      operationId: 'list_mcp_tools',
      summary: 'The tools of an MCP server with what each costs a model, and those that changed since they were approved',
      tag: 'mcp-servers',
      status: 200,
      answer: toolList,
      failures: [404],
      async handle(request, response) {
        const { id, document } = await find(context, parameter(request, 'name'));
        const status = (await ask(document.name)).get(document.name) ?? unknown(document.name);
        const changes = new Map((await storage.mcpTools.list(id)).map((row) => [row.name, row.changed_at]));
        const show = (one: McpToolStatus) => {
          const at = changes.get(one.name) ?? null;
          return { ...one, changed_at: at === null ? null : isoTime(at) };
        };
        response.json({ ...status, tools: status.tools?.map(show) ?? null });
      },
    },
  ];
}

/** What admins do with a server beside changing its settings. */
function actionRoutes(context: ConsoleContext): Route[] {
  const { bus, storage, audit } = context;
  return [
    {
      method: 'post',
      path: `${base}/mcp-servers/{name}/refresh`,
      operationId: 'refresh_mcp_server',
      summary: 'Ask an MCP server for its tools again',
      tag: 'mcp-servers',
      status: 204,
      failures: [404],
      async handle(request, response) {
        const { document } = await find(context, parameter(request, 'name'));
        bus.publish('mcp.refresh', { server: document.name });
        await audit({
          ...auditOf(request, actorNameOf(response)),
          action: 'mcp.context.refreshed',
          entity_type: 'mcp_context',
          entity_id: document.name,
          diff: {},
        });
        response.status(204).end();
      },
    },
    {
      method: 'post',
      path: `${base}/mcp-servers/{name}/approve-tools`,
      operationId: 'approve_mcp_tools',
      summary: 'Approve tools of an MCP server as they are described now',
      tag: 'mcp-servers',
      body: approval,
      status: 200,
      answer: z.strictObject({ approved: z.array(text) }),
      failures: [404],
      async handle(request, response) {
        const { tools } = readInput(approval, request.body);
        const { id, document } = await find(context, parameter(request, 'name'));
        const approved = await storage.mcpTools.approve(id, tools ?? null);
        if (approved.length > 0) {
          bus.publish('mcp.refresh', { server: document.name });
          await audit({
            ...auditOf(request, actorNameOf(response)),
            action: 'update',
            entity_type: 'mcp_server',
            entity_id: document.name,
            diff: { approved_tools: approved.slice(0, 200) },
          });
        }
        response.json({ approved });
      },
    },
    {
      method: 'post',
      path: `${base}/mcp-servers/{name}/call`,
      operationId: 'call_mcp_tool',
      summary: 'Call a tool of an MCP server, to try it; the call is audited',
      tag: 'mcp-servers',
      body: trial,
      status: 200,
      answer: trialAnswer,
      failures: [404, 503],
      async handle(request, response) {
        const { tool: name, arguments: given } = readInput(trial, request.body);
        const { document } = await find(context, parameter(request, 'name'));
        const asked = { server: document.name, tool: name, arguments: JSON.stringify(given) };
        const { ok, answer, durationMs } = await bus.ask('mcp.test-tool', asked, { deadlineMs: trialMs });
        await audit({
          ...auditOf(request, actorNameOf(response)),
          action: 'tool.call',
          entity_type: 'mcp',
          entity_id: `${document.name}.${name}`,
          diff: { ok, duration_ms: Math.round(durationMs) },
        });
        response.json({ ok, answer: JSON.parse(answer), duration_ms: durationMs });
      },
    },
  ];
}
