/** MCP servers: whose tools are offered at `/mcp`. What they are sent as credentials goes in sealed and comes out masked. */
import { type McpServer, mcpServerSchema, restBridgeSchema, sealedAs } from '@model-gateway/contracts';
import type { CatalogReader, McpServerDocument } from '@model-gateway/storage';
import type { ConsoleContext } from '../context.ts';
import { type Detail, invalid, invalidField } from '../problem.ts';
import { checkBaseUrl } from '../validation/base-url.ts';
import { plainWords } from '../validation/plain-words.ts';
import { joinPath } from '../validation/read-input.ts';
import { concealConfig, concealQuery } from './conceal.ts';
import type { BuildContext, Resource } from './resource.ts';
import { opens, renewSeal } from './stored-secret.ts';
import { isMasked, upstreamKeyMask } from './upstream-keys.ts';

const maskAll = (headers: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, upstreamKeyMask]));

const show = ({ sealed_auth, sealed_headers, ...document }: McpServerDocument) => ({
  ...document,
  auth_header: sealed_auth === undefined ? null : upstreamKeyMask,
  extra_headers: maskAll(sealed_headers),
});

export const mcpServers: Resource<McpServerDocument, McpServer> = {
  path: 'mcp-servers',
  noun: 'MCP server',
  entityType: 'mcp_server',
  sortable: ['name', 'created_at', 'updated_at'],
  schema: mcpServerSchema,
  partial: mcpServerSchema.partial(),
  answer: mcpServerSchema,
  reader: (reader) => reader.mcpServers,
  writer: (writer) => writer.mcpServers,
  toInput: show,
  keptSecrets: (document) => {
    const { auth_header, extra_headers } = show(document);
    return { auth_header, extra_headers };
  },
  toReply: show,
  conceal: (shown) => ({ ...shown, endpoint: concealQuery(shown['endpoint']), extra_config: concealConfig(shown['extra_config']) }),
  secrets: ({ sealed_auth, sealed_headers, endpoint, extra_config }) => ({
    auth_header: sealed_auth ?? null,
    extra_headers: sealed_headers ?? {},
    endpoint: concealQuery(endpoint) === endpoint ? null : endpoint,
    extra_config,
  }),
  check: (input, context) => [...checkBaseUrl('endpoint', input.endpoint, context.outbound.policy), ...checkBridge(input), ...checkHeaderNames(input)],
  async build({ auth_header, extra_headers, ...input }, place) {
    await refuseAmbiguous(input.name, place);
    const auth = sealAuth(auth_header, place);
    const headers = sealExtraHeaders(extra_headers, place);
    return {
      document: { ...input, ...(auth !== null && { sealed_auth: auth }), ...(Object.keys(headers).length > 0 && { sealed_headers: headers }) },
    };
  },
  checkRemoval: async () => undefined,
  toExport: ({ id, document: { sealed_auth, sealed_headers = {}, ...document } }, { reseal }) => ({
    ...document,
    auth_header: sealed_auth === undefined ? null : reseal(sealed_auth, sealedAs.mcpAuth(id)),
    extra_headers: Object.fromEntries(
      Object.entries(sealed_headers).map(([name, sealed]) => [name, reseal(sealed, sealedAs.mcpHeader(id, name.toLowerCase()))]),
    ),
  }),
};

/** The list of operations of a REST service. */
function checkBridge({ connection_type, transport, extra_config }: McpServer): Detail[] {
  if (connection_type !== 'rest_bridge') {
    return extra_config?.['operations'] === undefined ? [] : [{ field: 'extra_config.operations', message: 'is for connection_type rest_bridge alone' }];
  }
  if (transport === 'sse') return [{ field: 'transport', message: 'sse is for servers of MCP: leave it out for connection_type rest_bridge' }];
  if (extra_config === null) return [{ field: 'extra_config', message: 'is required for rest_bridge: {title, version, operations}' }];
  if ('swagger' in extra_config || 'openapi' in extra_config || 'paths' in extra_config)
    return [{ field: 'extra_config', message: 'API descriptions keyed by path are not supported: send {title, version, operations: [{operation_id, …}]}' }];
  const { success, data, error } = restBridgeSchema.safeParse(extra_config, { error: plainWords });
  if (!success) return error.issues.slice(0, 20).map(({ path, message }) => ({ field: joinPath('extra_config', ...path.map(String)), message }));
  const seen = new Set<string>();
  return data.operations.flatMap(({ operation_id }, index) => {
    const repeated = seen.has(operation_id);
    seen.add(operation_id);
    return repeated ? [{ field: `extra_config.operations.${index}.operation_id`, message: 'appears twice' }] : [];
  });
}

/** Headers that are the protocol's or the connection's. */
const ownHeaders = /^(?:authorization|host|connection|content-.*|transfer-encoding|accept|mcp-.*|last-event-id|te|upgrade|keep-alive|expect)$/i;

const checkHeaderNames = ({ extra_headers }: McpServer): Detail[] =>
  Object.keys(extra_headers).flatMap((name) =>
    ownHeaders.test(name)
      ? [{ field: `extra_headers.${name}`, message: name.toLowerCase() === 'authorization' ? 'is what auth_header is for' : 'is set by the gateway' }]
      : [],
  );

type Place = BuildContext<McpServerDocument>;

/** With `__` between server and tool, no server's name may be the beginning of another's: one name would mean two tools. */
async function refuseAmbiguous(name: string, { writer, existing, prefix }: Place): Promise<void> {
  if (existing) return;
  const other = await findAmbiguous(name, writer);
  if (other !== undefined)
    throw invalidField(joinPath(prefix, 'name'), `and the name of the MCP server ${other} could not be told apart where __ stands between server and tool`);
}

async function findAmbiguous(name: string, writer: CatalogReader): Promise<string | undefined> {
  const names = (await writer.mcpServers.all()).map(({ document }) => document.name);
  return names.find((other) => other.startsWith(`${name}__`) || name.startsWith(`${other}__`));
}

function sealAuth(given: string | null, { existing, id, context, prefix }: Place): string | null {
  if (given === null) return null;
  const place = sealedAs.mcpAuth(id);
  const kept = existing?.document.sealed_auth;
  if (isMasked(given)) {
    if (kept === undefined) throw invalidField(joinPath(prefix, 'auth_header'), 'is a mask: send the value');
    return renewSeal(context, kept, place);
  }
  return sealValue(given, kept, place, context);
}

/** What did not change keeps its sealed text, so that nothing looks changed. */
const sealValue = (value: string, kept: string | undefined, place: string, context: ConsoleContext): string =>
  kept !== undefined && opens(context, kept, place) === value ? renewSeal(context, kept, place) : context.keyring.seal(value, place);

function sealExtraHeaders(given: Readonly<Record<string, string>>, { existing, id, context, prefix }: Place): Record<string, string> {
  const kept = new Map(Object.entries(existing?.document.sealed_headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const faults: Detail[] = [];
  const sealed: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase();
    const place = sealedAs.mcpHeader(id, lower);
    const old = kept.get(lower);
    if (!isMasked(value)) sealed[name] = sealValue(value, old, place, context);
    else if (old !== undefined) sealed[name] = renewSeal(context, old, place);
    else faults.push({ field: joinPath(prefix, 'extra_headers', name), message: 'is a mask: send the value' });
  }
  if (faults.length > 0) throw invalid(faults);
  return sealed;
}
