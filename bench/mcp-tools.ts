/**
 * What callers wait for with 2,000 tools of 50 MCP servers: a list, a search and a call at `/mcp`, one at a time.
 * `node bench/mcp-tools.ts [--repetitions 200]`; ends with 1 when a promise is broken (warm list: p50 ≤ 100 ms, in one process and on NATS).
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { driverCores, freePorts, pinDriver, startNode, until } from './src/spawn.ts';
import { startForTools } from './src/targets/gateway.ts';

const { values } = parseArgs({ options: { repetitions: { type: 'string', default: '200' } } });
const repetitions = Number(values.repetitions);
const [servers, toolsOfEach, promisedMs] = [50, 40, 100];

const scratch = mkdtempSync(join(tmpdir(), 'model-gateway-mcp-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
pinDriver();

const [port] = await freePorts(1);
const mock = startNode([join(import.meta.dirname, 'servers/mock-mcp.ts'), '--port', String(port), '--tools', String(toolsOfEach)], { cores: driverCores });
const names = Array.from({ length: servers }, (_, at) => `server-${String(at).padStart(2, '0')}`);

const round = (ms: number): string => ms.toFixed(1);
let broken = false;
console.log('| arrangement | what | p50 ms | p99 ms | KB |\n| --- | --- | --- | --- | --- |');
try {
  await until('the MCP servers', [mock], async () => (await fetch(`http://127.0.0.1:${port}/a/mcp`, { method: 'POST' })).status < 500);
  for (const arrangement of ['embedded', 'split'] as const) await measure(arrangement);
} finally {
  await mock.stop();
}
process.exitCode = broken ? 1 : 0;

async function measure(arrangement: 'embedded' | 'split'): Promise<void> {
  const folder = join(scratch, arrangement);
  mkdirSync(folder);
  const gateway = await startForTools(arrangement === 'split', folder);
  try {
    const post = async (url: string, bearer: string, body: object): Promise<string> => {
      const reply = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify(body),
      });
      const text = await reply.text();
      if (!reply.ok) throw new Error(`${url} gave ${reply.status}: ${text.slice(0, 300)}`);
      return text;
    };
    const configure = (path: string, body: object) => post(`${gateway.base}/console/api/${path}`, gateway.secret, body);
    for (const [at, name] of names.entries())
      await configure('mcp-servers', { name, endpoint: `http://127.0.0.1:${port}/${name}/mcp`, priority: at % 5, tags: ['bench'] });
    await configure('key-groups', { name: 'bench', models: ['*'], mcp_tool_acl: { allowed_tags: ['bench'] } });
    const { key } = JSON.parse(await configure('access-keys', { name: 'bench', group: 'bench' })) as { key: string };
    const ask = (method: string, params: object = {}) => post(`${gateway.base}/mcp`, key, { jsonrpc: '2.0', id: 1, method, params });
    await until(`all tools (${arrangement})`, [mock], async () => (await ask('tools/list')).split('"inputSchema"').length - 1 === servers * toolsOfEach + 1);

    const queries = ['archive shipping labels', 'holiday requests of server-31', 'create pull request', 'audit', 'delete meeting rooms server-07'];
    const asked: readonly (readonly [string, (at: number) => Promise<string>])[] = [
      ['first search', (at) => ask('tools/search', { query: queries[at % queries.length] })],
      ['list', () => ask('tools/list')],
      ['search', (at) => ask('tools/search', { query: queries[at % queries.length] })],
      ['call', () => ask('tools/call', { name: 'server-31.archive_shipping_labels', arguments: { id: '7' } })],
    ];
    for (const [what, run] of asked) {
      const times: number[] = [];
      const texts = new Set<string>();
      for (let at = 0; at < (what === 'first search' ? 1 : repetitions); at++) {
        const since = performance.now();
        const text = await run(at);
        times.push(performance.now() - since);
        texts.add(text);
      }
      times.sort((a, b) => a - b);
      const p50 = times[Math.floor(times.length / 2)]!;
      const p99 = times[Math.floor(times.length * 0.99)]!;
      console.log(
        `| ${arrangement} | ${what} | ${round(p50)} | ${times.length === 1 ? '–' : round(p99)} | ${(Math.max(...[...texts].map((text) => text.length)) / 1024).toFixed(0)} |`,
      );
      if (what !== 'list') continue;
      if (texts.size > 1) console.log(`broken: ${texts.size} different lists`);
      if (p50 > promisedMs) console.log(`broken: a warm list takes ${round(p50)} ms, promised are ${promisedMs}`);
      broken ||= texts.size > 1 || p50 > promisedMs;
    }
  } finally {
    await gateway.stop();
  }
}
