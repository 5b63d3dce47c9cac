/** Gives the MCP aggregator, which holds no master key, the sealed secrets of MCP servers and the key for these alone, and compares tools with what was approved. */
import type { Disposable } from '@model-gateway/bus';
import type { ConsoleContext } from '../context.ts';

const purpose = 'mcp_servers';

export function serveMcpSecrets({ bus, storage, keyring }: ConsoleContext): Disposable {
  const keys = keyring.sealingKeys(purpose).map(({ id, key }) => ({ id, key: key.toString('base64') }));
  return bus.serve({
    ask: {
      'catalog.mcp-tools': async ({ server, tools, peek }) => ({ changed: await storage.mcpTools.see(server, tools, Date.now(), peek) }),
      'catalog.mcp-secrets': async () => {
        const stored = await storage.catalog.mcpServers.all();
        const servers = stored.map(({ id, document: { endpoint, sealed_auth, sealed_headers } }) => ({
          id,
          endpoint,
          ...(sealed_auth !== undefined && { auth: sealed_auth }),
          ...(sealed_headers !== undefined && { headers: sealed_headers }),
        }));
        return { keys, servers };
      },
    },
  });
}
