/** The protocol's own conformance suite: what a server passes by itself, it passes through the gateway, in both eras and arrangements. */
import { execFile } from 'node:child_process';
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EverythingServer } from '../fake-mcp/everything-server.ts';
import { arrangements, borrowGateway, type TestGateway, until } from '../support/gateway.ts';

const program = join(import.meta.dirname, '../node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** Tasks are an extension that no part of the gateway has; a reply that its server breaks off is gone on with by the gateway, so that callers never see it broken. */
const leftOut = /^tasks-|^server-sse-polling$/;

/** Scenario → checks that passed and failed; `scored`: those that the revision requires. */
interface Outcome {
  passed: Record<string, number>;
  failed: Record<string, number>;
  log: string;
}

function runSuite(url: string, requirements: string): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, 'server', '--url', url, '--requirements', requirements], { maxBuffer: 1e8 }, (_error, stdout, stderr) => {
      const log = `${stdout}\n${stderr}`;
      const lines = [...log.matchAll(/^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed/gm)];
      if (lines.length === 0) return reject(new Error(`the suite did not run: ${log.slice(-2000)}`));
      const column = (at: 2 | 3): Record<string, number> => Object.fromEntries(lines.map((line) => [line[1]!, Number(line[at])]));
      resolve({ passed: column(2), failed: column(3), log });
    });
  });
}

describe.each(arrangements('MCP conformance'))('MCP conformance, %s', (arrangement) => {
  const server = new EverythingServer();
  let gateway: TestGateway;
  // The suite has no key: something in front of the gateway adds it, and changes nothing else.
  const front = createServer((request, response) => {
    const onwards = ask(
      `${gateway.url}${request.url}`,
      { method: request.method ?? 'GET', headers: { ...request.headers, authorization: `Bearer ${gateway.key}` } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        response.flushHeaders();
        answer.pipe(response);
      },
    );
    onwards.on('error', () => response.destroy());
    response.on('close', () => onwards.destroy());
    request.pipe(onwards);
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
    await server.start();
    gateway = await borrowGateway({ arrangement });
    await gateway.configure({
      mcp_servers: [{ name: 'everything', endpoint: server.url }],
      key_groups: [{ name: 'everyone', models: ['*'], mcp_tool_acl: { allowed_tools: ['*'] } }],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    server.stop();
    front.close();
    front.closeAllConnections();
  });

  test.each(['2026-07-28', '2025-11-25'])('requirements of %s hold through the gateway where they hold without it', async (requirements) => {
    const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}/mcp/everything`;
    await until(
      async () => (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' })).ok,
      'the server to be served',
    );
    const [direct, through] = await Promise.all([runSuite(server.url, requirements), runSuite(url, requirements)]);
    if (process.env['SHOW_CONFORMANCE']) process.stderr.write(through.log);
    const asked = (counts: Record<string, number>) => Object.fromEntries(Object.entries(counts).filter(([name]) => !leftOut.test(name)));
    expect(Object.values(asked(direct.failed)).filter((count) => count > 0)).toEqual([]);
    expect(asked(through.failed)).toEqual(asked(direct.failed));
    // An answer that is one message comes as JSON, also where the server makes a stream of it: checks of such streams have nothing to look at.
    expect(Object.entries(asked(through.passed)).filter(([, count]) => count === 0)).toEqual([]);
    expect(Object.keys(asked(through.passed))).toEqual(Object.keys(asked(direct.passed)));
  });
});
