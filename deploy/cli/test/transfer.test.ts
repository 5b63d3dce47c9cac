/** `apply` and `export` against a running gateway: the round trip, the dry run, all or nothing. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of configuration files look like this
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { until } from '../../../tests/support/gateway.ts';
import { compileCache, gatewayEntry } from '../../../tests/support/gateway-entry.ts';

const main = await gatewayEntry();
const folder = mkdtempSync(join(tmpdir(), 'gateway-transfer-'));
const upstreamKey = 'sk-canary-of-the-file';
const environment = {
  PATH: process.env['PATH'] ?? '',
  ...compileCache,
  CONFIG_FILE: '/dev/null',
  DATA_DIR: join(folder, 'data'),
  PORT: '0',
  HOST: '127.0.0.1',
  PROMETHEUS_PORT: 'off',
  CONSOLE_SECRET_KEY: `console-${randomBytes(16).toString('hex')}`,
  UPSTREAM_KEY: upstreamKey,
};
let gateway: ChildProcess;
let url = '';

beforeAll(async () => {
  gateway = spawn(process.execPath, ['--no-warnings', main, 'up'], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  url = await new Promise<string>((resolve, reject) => {
    let out = '';
    gateway.stdout?.on('data', (text) => {
      out += text;
      const found = /The gateway listens on (http:\S+?)\.\s/.exec(out)?.[1];
      if (found) resolve(found);
    });
    gateway.once('exit', () => reject(new Error(`the gateway ended: ${out}`)));
  });
});
afterAll(async () => {
  if (gateway.exitCode === null) {
    const ended = new Promise((resolve) => gateway.once('exit', resolve));
    gateway.kill('SIGKILL');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

interface Outcome {
  code: number;
  out: string;
  err: string;
}
const run = (...args: string[]): Promise<Outcome> =>
  new Promise((resolve) => {
    execFile(process.execPath, ['--no-warnings', main, ...args, ...(args.includes('--url') ? [] : ['--url', url])], { env: environment }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });
const write = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};
const names = async (resource: string): Promise<string[]> => {
  const reply = await fetch(`${url}/console/api/${resource}`, { headers: { authorization: `Bearer ${environment.CONSOLE_SECRET_KEY}` } });
  return ((await reply.json()) as { items: { name: string }[] }).items.map(({ name }) => name).sort();
};
const configuration = (model: string): string => `upstreams:
  - name: up
    protocol: alpha
    base_url: https://up.example
    api_keys: [{ key: "\${UPSTREAM_KEY}" }]
models:
  - { name: ${model}, upstream: up, upstream_model_id: real }
key_groups:
  - { name: all, models: ["*"] }
access_keys:
  - { name: caller, group: all }
`;

test('a dry run says what would change and changes nothing', async () => {
  const { code, out } = await run('apply', '--dry-run', '-f', write('first.yaml', configuration('first')));
  expect(code).toBe(0);
  expect(out).toMatch(/^\+ upstreams up\n\+ models first\n[\s\S]*4 rows would change\.\n$/);
  const json = await run('apply', '--dry-run', '--json', '-f', write('first.yaml', configuration('first')));
  expect(JSON.parse(json.out)).toMatchObject({ dry_run: true, total_changes: 4 });
  expect(out).not.toContain(upstreamKey);
  expect(await names('models')).toEqual([]);
});

test('apply, export, apply: the same configuration, secrets sealed, the file for its owner alone', async () => {
  const applied = await run('apply', '-f', write('first.yaml', configuration('first')));
  expect([applied.code, applied.err]).toEqual([0, '']);
  expect([await names('upstreams'), await names('models'), await names('access-keys')]).toEqual([['up'], ['first'], ['caller']]);
  const file = join(folder, 'export.yaml');
  expect((await run('export', '-o', file)).code).toBe(0);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const text = readFileSync(file, 'utf8');
  expect(text).not.toContain(upstreamKey);
  expect(parse(text)).toMatchObject({ upstreams: [{ name: 'up' }], models: [{ name: 'first' }] });
  // What was exported can be applied as it is, and changes nothing.
  const again = await run('apply', '-f', file);
  expect([again.code, again.err]).toEqual([0, '']);
  const printed = await run('export', '--format', 'json');
  expect((JSON.parse(printed.out) as { models: unknown[] }).models).toHaveLength(1);
});

test('a script with a template of JavaScript comes back from an export as it was', async () => {
  const script = 'function transform(body) {\n  const UPSTREAM_KEY = 1;\n  return { ...body, user: `${UPSTREAM_KEY}${NOWHERE}` };\n}\n';
  const rules = [{ mode: 'inject-system-prompt', value: 'Say ${NOWHERE}.' }];
  const scripted = { ...parse(configuration('first')), upstreams: [{ name: 'up', protocol: 'alpha', base_url: 'https://up.example' }] };
  Object.assign(scripted.models[0], { request_transform_after: script, request_body_rules: rules });
  expect((await run('apply', '-f', write('scripted.yaml', stringify(scripted)))).err).toBe('');
  const file = join(folder, 'scripted-export.yaml');
  await run('export', '-o', file);
  expect(parse(readFileSync(file, 'utf8')).models[0]).toMatchObject({ request_transform_after: script, request_body_rules: rules });
  const again = await run('apply', '--json', '-f', file);
  expect([again.err, JSON.parse(again.out).total_changes]).toEqual(['', 0]);
});

test('all or nothing: one wrong entry, and no other is applied', async () => {
  const before = [await names('upstreams'), await names('models')];
  const wrong = `${configuration('second').replace('upstream: up,', 'upstream: nowhere,')}`.replace('name: up\n', 'name: another\n');
  const { code, err } = await run('apply', '-f', write('wrong.yaml', wrong));
  expect(code).toBe(1);
  expect(err).toMatch(/was refused \(4\d\d\)/);
  expect(err.trim().split('\n')).toHaveLength(1);
  expect(err).not.toContain(upstreamKey);
  expect([await names('upstreams'), await names('models')]).toEqual(before);
});

test('faults of several rows are told together, a line for each', async () => {
  const wrong = { version: 2, key_groups: ['one', 'two', 'three'].map((name) => ({ name, models: name === 'two' ? ['*'] : 'none' })) };
  const { code, err } = await run('apply', '-f', write('wrong.yaml', stringify(wrong)));
  expect(code).toBe(1);
  expect(err.trim().split('\n')).toEqual([
    expect.stringMatching(/wrong\.yaml was refused \(422\):$/),
    expect.stringMatching(/^ {2}key_groups\.0\.models: /),
    expect.stringMatching(/^ {2}key_groups\.2\.models: /),
  ]);
  expect(await names('key-groups')).not.toContain('two');
});

test('what answers and is no gateway, such as a sign-in page in front of it, gives no configuration', async () => {
  const page = createServer((_request, response) => void response.setHeader('content-type', 'text/html').end('<h1>Sign in</h1>'));
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
  for (const command of [['export'], ['apply', '-f', write('any.yaml', configuration('any'))]]) {
    const { code, out, err } = await run(...command, '--url', address);
    expect([code, out]).toEqual([1, '']);
    expect(err.trim()).toBe(`--url: what answers at ${address} is not a model gateway (200); accepted: the address of a running gateway`);
  }
  page.closeAllConnections();
  await new Promise((resolve) => page.close(resolve));
});

test('a file that is no configuration is refused in one line', async () => {
  const { code, err } = await run('apply', '-f', write('broken.yaml', 'models: [{'));
  expect(code).toBe(1);
  expect(err.trim().split('\n')).toHaveLength(1);
});

test('--watch applies whatever takes the place of the file, time after time', async () => {
  const file = write('watched.yaml', configuration('watched-1'));
  const watcher = spawn(process.execPath, ['--no-warnings', main, 'apply', '--watch', '-f', file, '--url', url], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let out = '';
    watcher.stdout.on('data', (text) => {
      out += text;
    });
    const applied = (times: number) => until(async () => out.split('revision').length > times, `change ${times} to be applied`);
    await applied(1);
    for (const number of [2, 3]) {
      // As editors save: beside it, then moved over it.
      renameSync(write('watched.new', configuration(`watched-${number}`)), file);
      await applied(number);
    }
    expect((await names('models')).filter((name) => name.startsWith('watched'))).toEqual(['watched-1', 'watched-2', 'watched-3']);
  } finally {
    const ended = new Promise((resolve) => watcher.once('exit', resolve));
    watcher.kill('SIGKILL');
    await ended;
  }
});

test('--watch misses nothing that changes while it applies', async () => {
  const file = write('busy.yaml', 'one');
  const received: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (text) => {
      body += text;
    });
    request.on('end', () => {
      if (received.push(body) === 1) write('busy.yaml', 'two');
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const watcher = spawn(process.execPath, ['--no-warnings', main, 'apply', '--watch', '--json', '-f', file, '--url', target], {
    env: environment,
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => watcher.once('exit', resolve));
  try {
    await until(async () => received.includes('two'), 'the second version');
    expect(received).toEqual(['one', 'two']);
  } finally {
    watcher.kill('SIGKILL');
    await ended;
    server.closeAllConnections();
    server.close();
  }
});

test('what cannot be written or watched is said in one line', async () => {
  const unwritable = await run('export', '-o', join(folder, 'nowhere/file.yaml'));
  expect([unwritable.code, unwritable.err]).toEqual([1, expect.stringMatching(/^-o ".*" cannot be written \(ENOENT\); accepted: .*\n$/)]);
  const unwatchable = await run('apply', '--watch', '-f', '-');
  expect([unwatchable.code, unwatchable.err]).toEqual([1, expect.stringMatching(/^--watch is for a file.*\n$/)]);
});
