/** A call of a tool by an admin, who tries it: no access list, no limits, no row; the console audits it. */
import { isObject, type McpToolTest, type McpToolTested } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Redactor } from '@model-gateway/telemetry';
import { paramHeaders } from './protocol/param-headers.ts';
import { parseJson } from './protocol/raw-json.ts';
import { ServerFault } from './servers/http.ts';
import { ownParams } from './servers/list-tools.ts';
import type { Registry } from './servers/registry.ts';

const trialMs = 55_000;
/** Messages on the bus have a maximum size. */
const maxAnswer = 512 * 1024;

/** What a trial needs beside the call. */
export interface TrialDeps {
  registry: Registry;
  redactor: Redactor;
  version: string;
}

/** Rejects with GatewayError `not_found` for a server that is not there. */
export async function testTool({ server: name, tool, arguments: text }: McpToolTest, { registry, redactor, version }: TrialDeps): Promise<McpToolTested> {
  const server = registry.find(name);
  if (!server) throw new GatewayError('not_found', { message: 'The MCP server is disabled, or not known to this process yet.' });
  const began = performance.now();
  const args = parseJson(text);
  const asked = `{"name":${JSON.stringify(tool)},"arguments":${isObject(args) ? text : '{}'}}`;
  const done = (ok: boolean, said: string): McpToolTested => {
    // Servers may repeat what they were sent, which admins never see again.
    const answer = redactor.redactKnown(said);
    return {
      ok,
      answer: answer.length > maxAnswer ? JSON.stringify({ cut: true, text: answer.slice(0, maxAnswer / 4) }) : answer,
      durationMs: performance.now() - began,
    };
  };
  try {
    const known = (await server.load()).find((one) => one.name === tool);
    const reply = await server.use({ owner: '', session: 'console', capabilities: '{}', prefersSession: false }, undefined, (peer) =>
      peer.request({
        method: 'tools/call',
        params: peer.era === 'modern' ? ownParams(version, '{}', asked) : asked,
        name: tool,
        headers: paramHeaders(known?.paramHeaders ?? [], args),
        signal: AbortSignal.timeout(trialMs),
        silenceMs: trialMs,
      }),
    );
    return reply.kind === 'result' ? done(true, reply.result) : done(false, reply.error);
  } catch (error) {
    if (!(error instanceof ServerFault)) throw error;
    return done(false, JSON.stringify({ message: error.message }));
  }
}
