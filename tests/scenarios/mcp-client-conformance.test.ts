/** The protocol's own conformance suite with the gateway as the client of its servers: both eras of servers, each for callers of both eras. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { arrangements, borrowGateway, type TestGateway } from '../support/gateway.ts';
import { compileCache } from '../support/gateway-entry.ts';

const folder = join(import.meta.dirname, '..');
const program = join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const client = join(folder, 'fake-mcp/conformance-client.ts');
/** Of callers. In one process each scenario runs for both, elsewhere for one of them in turns: each starts processes of its own. */
const eras = ['session', 'modern'];
const revisions = ['2025-06-18', '2025-11-25', '2026-07-28'];
/** OAuth towards servers is not supported, and extensions are none of the revision. */
const leftOut = /^auth\/|^sep-2640-/;
const start = (args: readonly string[], env: Record<string, string> = {}): Promise<string> =>
  new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { maxBuffer: 1e8, env: { ...process.env, ...compileCache, ...env } }, (_error, stdout, stderr) =>
      resolve(`${stdout}\n${stderr}`),
    );
  });

describe.each(arrangements('MCP client conformance'))('the gateway as a client, %s', (arrangement) => {
  let gateway: TestGateway;
  /** Of the suite: scenario and revision. */
  let scenarios: [scenario: string, revision: string][] = [];

  beforeAll(async () => {
    const listed = await start(['list', '--client']);
    scenarios = [...listed.matchAll(/^ {2}- (\S+) \[([^\]]+)\]$/gm)]
      .filter(([, name = '']) => !leftOut.test(name))
      .flatMap(([, name = '', versions = '']) =>
        versions.split(',').flatMap((version): [string, string][] => (revisions.includes(version) ? [[name, version]] : [])),
      );
    gateway = await borrowGateway({ arrangement });
    await gateway.configure({ key_groups: [{ name: 'everyone', models: ['*'], mcp_tool_acl: { allowed_tools: ['*'] } }] });
  });
  afterAll(() => gateway?.stop());

  const judge = async (scenario: string, revision: string, era: string): Promise<string[]> => {
    const env = { GATEWAY_URL: gateway.url, GATEWAY_KEY: gateway.key, CONSOLE_KEY: gateway.consoleKey, CALLER_ERA: era };
    const command = `${process.execPath} --no-warnings ${client}`;
    const log = await start(['client', '--command', command, '--scenario', scenario, '--spec-version', revision, '--timeout', '60000', '--verbose'], env);
    if (process.env['SHOW_CONFORMANCE']) process.stderr.write(log);
    const [, passed, whole, failed] = /Passed: (\d+)\/(\d+), (\d+) failed/.exec(log) ?? [];
    const isWell = failed === '0' && Number(passed) > 0 && passed === whole && !/Client exited with code|timed out/.test(log);
    return isWell ? [] : [`${scenario} of ${revision} for callers of the ${era} era: ${log.slice(-3000)}`];
  };

  test('the suite has scenarios of each revision', () => {
    for (const revision of revisions) expect(scenarios.filter(([, one]) => one === revision).length).toBeGreaterThan(1);
  });

  test.each(eras)(
    'for callers of the %s era: every scenario holds',
    async (era) => {
      const faults: string[] = [];
      // Two at a time: each starts a process of its own.
      const waiting = scenarios.filter((_scenario, at) => arrangement === 'embedded' || at % eras.length === eras.indexOf(era));
      const work = async (): Promise<void> => {
        for (let next = waiting.shift(); next; next = waiting.shift()) faults.push(...(await judge(...next, era)));
      };
      await Promise.all([work(), work()]);
      expect(faults).toEqual([]);
    },
    600_000,
  );
});
