/** A long file goes as JSON, which the console takes at any length that it takes at all; a short one goes as it stands. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { apply } from '../src/commands/apply.ts';

test('apply sends short files as YAML and long ones as JSON', async () => {
  const received: { type: string | undefined; body: string }[] = [];
  const empty = { upstreams: [], models: [], pricing: [], load_balancers: [], key_groups: [], access_keys: [], load_balancer_pins: [], sso_credentials: [] };
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => {
      body += text;
    });
    request.on('end', () => {
      received.push({ type: request.headers['content-type'], body });
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ dry_run: false, revision: 2, created: empty, updated: empty, unchanged: empty, total_changes: 0, changes: [] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = mkdtempSync(join(tmpdir(), 'gateway-apply-'));
  const written = jest.spyOn(process.stdout, 'write').mockImplementation(() => true);
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const file = join(folder, 'gateway.yaml');
    const short = 'key_groups:\n  - name: ${TEAM}\n';
    const env = { CONSOLE_SECRET_KEY: 'a-very-long-console-secret-here', TEAM: 'the: team' };
    for (const text of [short, `${short}  - name: long\n    description: |\n${`      ${'x'.repeat(90)}\n`.repeat(15_000)}`]) {
      writeFileSync(file, text);
      await apply(['-f', file, '--url', url], env);
    }
    expect(received.map(({ type }) => type)).toEqual(['application/yaml', 'application/json']);
    const { key_groups: groups } = JSON.parse(received[1]!.body);
    expect(groups.map(({ name }: { name: string }) => name)).toEqual(['the: team', 'long']);
    expect(groups[1].description).toHaveLength(15_000 * 91);
  } finally {
    written.mockRestore();
    rmSync(folder, { recursive: true });
    await new Promise((resolve) => server.close(resolve));
  }
});
