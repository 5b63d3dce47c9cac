/** The arrangement of docker-compose.yml, run as it stands but without containers, on the very files that the image holds. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { passwordVariable } from '@model-gateway/bus';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { type ComposeService, duration, type Instance, interpolate, readCompose, root, startInstance, startOrder, stopInstance } from '../support/compose.ts';
import { freePort } from '../support/free-port.ts';
import { splitAvailable } from '../support/gateway.ts';
import { findNatsServer } from '../support/nats-server.ts';
import { openTestPostgres, type TestPostgres } from '../support/postgres.ts';

const { text, file } = readCompose();
const dockerfile = readFileSync(join(root, 'deploy/images/Dockerfile'), 'utf8');
const ours = Object.entries(file.services).filter(([, service]) => service.image?.includes('model-gateway'));
const secretNames = [...readFileSync(join(root, '.env.example'), 'utf8').matchAll(/^(\w+)=/gm)].map(([, name]) => name as string);

describe('the files', () => {
  test('every service has a health check and comes back after a crash, within a grace longer than its drain', () => {
    for (const [name, service] of Object.entries(file.services)) expect([name, service.healthcheck?.test.length]).toEqual([name, expect.any(Number)]);
    for (const [name, service] of ours) {
      expect([name, service.restart]).toEqual([name, 'unless-stopped']);
      // 2 s lame duck, 30 s drain, 5 s to close.
      expect(duration(service.stop_grace_period ?? '10s')).toBeGreaterThanOrEqual(37_000);
    }
    expect(ours.map(([name]) => name).sort()).toEqual(['console', 'data-plane', 'edge', 'mcp-aggregator', 'router', 'script-runner', 'stats', 'translator']);
  });

  test('no secret stands in the file: each comes from .env, and a missing one stops the start', () => {
    for (const [name, service] of Object.entries(file.services)) {
      for (const [key, value] of Object.entries(service.environment ?? {})) {
        if (value !== null && /KEY|TOKEN|PASSWORD|SECRET/.test(key))
          expect([name, key, value]).toEqual([name, key, expect.stringMatching(/^"?\$\{\w+:\?[^}]+\}"?$/)]);
        const password = /^\w+:\/\/([^@/]*)@/.exec(String(value))?.[1]?.split(':').at(-1);
        if (password !== undefined) expect(password).toMatch(/^\$\{\w+$|^\$\{\w+:\?[^}]+\}$|^\?[^}]+\}$/);
      }
    }
    for (const [, name] of text.matchAll(/\$\{(\w+):\?/g)) expect(secretNames).toContain(name);
    expect(() => interpolate(file.services['nats']!.environment!['NATS_EDGE_PASSWORD']!, {})).toThrow('NATS_EDGE_PASSWORD');
    // What an operator sets beside the secrets reaches every service; the secrets do not.
    for (const [name, service] of ours) expect([name, service.env_file]).toEqual([name, [{ path: 'settings.env', required: false }]]);
    // The example itself holds names alone.
    expect(readFileSync(join(root, '.env.example'), 'utf8')).not.toMatch(/^\w+=.+/m);
  });

  test('each service gets in as its own user of the bus, knows only its own secrets, and insists on permissions', () => {
    const secretsOf = (name: string): string[] =>
      secretNames.filter((secret) =>
        Object.entries(file.services[name]!.environment ?? {}).some(
          ([key, value]) => (value === null ? key : String(value).includes(`\${${secret}:`) ? secret : '') === secret,
        ),
      );
    const bus = (name: string): string => passwordVariable(name);
    expect(Object.fromEntries(ours.map(([name]) => [name, secretsOf(name).sort()]))).toEqual({
      edge: [bus('edge'), 'REDIS_PASSWORD'],
      router: [bus('router')],
      translator: ['GATEWAY_MASTER_KEY', bus('translator'), 'REDIS_PASSWORD'],
      'data-plane': ['GATEWAY_MASTER_KEY', bus('data-plane'), 'REDIS_PASSWORD'],
      'script-runner': [bus('script-runner')],
      'mcp-aggregator': [bus('mcp-aggregator'), 'REDIS_PASSWORD'],
      stats: ['GATEWAY_MASTER_KEY', bus('stats'), 'POSTGRES_PASSWORD'].sort(),
      console: ['GATEWAY_MASTER_KEY', bus('console'), 'POSTGRES_PASSWORD', 'REDIS_PASSWORD', 'CONSOLE_SECRET_KEY', 'CONSOLE_PASSWORD'].sort(),
    });
    for (const [name, { environment }] of ours) {
      expect(environment!['NATS_URL']).toMatch(new RegExp(`^nats://${name}:`));
      expect(environment!['NATS_PERMISSIONS']).toBe('require');
    }
  });

  test('whoever shares figures over Redis is given it', () => {
    // Edges and translators count limits there, consoles failed sign-ins.
    const url = expect.stringMatching(/^redis:\/\/:\$\{REDIS_PASSWORD:\?[^}]+\}@redis:6379$/);
    for (const name of ['console', 'edge', 'mcp-aggregator', 'translator']) expect([name, file.services[name]!.environment!['REDIS_URL']]).toEqual([name, url]);
    for (const name of ['console', 'edge']) expect(Object.keys(file.services[name]!.depends_on!)).toContain('redis');
  });

  test('nothing of an image is written, no capability is left, no right is gained, and the script runner is another user', () => {
    for (const [name, { read_only, tmpfs, cap_drop, security_opt, user }] of ours) {
      expect([name, read_only, tmpfs?.[0], cap_drop, security_opt]).toEqual([name, true, '/tmp', ['ALL'], ['no-new-privileges:true']]);
      expect([name, user]).toEqual([name, name === 'script-runner' ? '10001:10001' : undefined]);
    }
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(dockerfile).toMatch(/useradd --uid 10001 .*script-runner/);
    // Servers of others too, as far as they can.
    for (const [name, { security_opt }] of Object.entries(file.services)) expect([name, security_opt]).toEqual([name, ['no-new-privileges:true']]);
  });

  test('the image holds what the lockfile chose: nothing is installed in its last stage, and its base is an argument', () => {
    const stages = dockerfile.split(/^FROM .*$/m);
    expect(stages).toHaveLength(3);
    expect(stages[2]).not.toMatch(/npm|pnpm|apt|curl|wget/);
    expect(stages[1]).toContain('pnpm install --frozen-lockfile');
    expect(stages[1]).toContain('/src/dist/sbom.cdx.json');
    expect([...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)).toEqual(['${NODE_IMAGE}', '${NODE_IMAGE}']);
  });

  test('each network joins only those who talk over it', () => {
    const members = Object.keys(file.networks).map((network) => [
      network,
      Object.keys(file.services)
        .filter((name) => file.services[name]!.networks!.includes(network))
        .sort(),
    ]);
    expect(Object.fromEntries(members)).toEqual({
      bus: ['console', 'data-plane', 'edge', 'mcp-aggregator', 'nats', 'router', 'script-runner', 'stats', 'translator'],
      limits: ['console', 'data-plane', 'edge', 'mcp-aggregator', 'redis', 'translator'],
      database: ['console', 'postgres', 'stats'],
      outside: ['console', 'data-plane', 'edge', 'mcp-aggregator', 'router', 'stats', 'translator'],
    });
    // Scripts have no way out but the bus, and neither have the servers.
    for (const [network, settings] of Object.entries(file.networks)) expect([network, settings?.internal ?? false]).toEqual([network, network !== 'outside']);
    // Who is named in an address can be reached.
    for (const [name, { environment = {}, networks }] of ours)
      for (const [, host = ''] of Object.values(environment).flatMap((value) => [...String(value).matchAll(/@(\w+):\d+/g)]))
        expect([name, host, file.services[host]!.networks!.some((network) => networks!.includes(network))]).toEqual([name, host, true]);
  });

  test('new-env.sh fills every secret that .env.example names, and leaves an .env alone that is there', () => {
    const copy = mkdtempSync(join(tmpdir(), 'gateway-env-'));
    mkdirSync(join(copy, 'deploy'));
    for (const name of ['.env.example', 'deploy/new-env.sh']) copyFileSync(join(root, name), join(copy, name));
    const made = spawnSync('sh', [join(copy, 'deploy/new-env.sh')]);
    expect([made.status, made.stderr.toString()]).toEqual([0, '']);
    const written = readFileSync(join(copy, '.env'), 'utf8');
    const values = new Map([...written.matchAll(/^(\w+)=(.+)$/gm)].map(([, name, value]) => [name, value as string]));
    expect([...values.keys()].sort()).toEqual([...secretNames].sort());
    expect(new Set(values.values()).size).toBe(secretNames.length);
    expect(Buffer.from(values.get('GATEWAY_MASTER_KEY')!, 'base64')).toHaveLength(32);
    expect(statSync(join(copy, '.env')).mode & 0o077).toBe(0);
    expect(spawnSync('sh', [join(copy, 'deploy/new-env.sh')]).status).not.toBe(0);
    expect(readFileSync(join(copy, '.env'), 'utf8')).toBe(written);
    rmSync(copy, { recursive: true, force: true });
  });

  test('new-env.sh leaves nothing behind when openssl fails', () => {
    const copy = mkdtempSync(join(tmpdir(), 'gateway-env-'));
    mkdirSync(join(copy, 'deploy'));
    for (const name of ['.env.example', 'deploy/new-env.sh']) copyFileSync(join(root, name), join(copy, name));
    writeFileSync(join(copy, 'openssl'), '#!/bin/sh\nexit 127\n', { mode: 0o755 });
    const before = readdirSync(copy).sort();
    const made = spawnSync('sh', [join(copy, 'deploy/new-env.sh')], { env: { ...process.env, PATH: `${copy}${delimiter}${process.env['PATH']}` } });
    expect([made.status, made.stdout.toString()]).toEqual([127, '']);
    expect(readdirSync(copy).sort()).toEqual(before);
    rmSync(copy, { recursive: true, force: true });
  });

  test('the Dockerfile copies what exists, and all that the workspace needs', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(([, line]) => (line as string).split(' ').slice(0, -1));
    for (const source of copied) expect([source, existsSync(join(root, source))]).toEqual([source, true]);
    const members = execFileSync('git', ['ls-files', '*package.json'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
    for (const member of members) {
      expect([member, copied.some((source) => member === source || member.startsWith(`${source}/`))]).toEqual([member, true]);
    }
    const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n').filter(Boolean);
    for (const source of copied) expect(ignored).not.toContain(source.split('/')[0]);
    expect(ignored).toEqual(expect.arrayContaining(['.env', '.git', '**/node_modules']));
  });

  test('the image runs Node with the flags and surroundings that `npm start` gives it', () => {
    const [, entrypoint] = /^ENTRYPOINT (.+)$/m.exec(dockerfile) ?? [];
    const flags = JSON.parse(readFileSync(join(root, 'deploy/images/node-flags.json'), 'utf8')) as string[];
    expect(JSON.parse(entrypoint ?? '[]')).toEqual(['node', ...flags, '/app/model-gateway.js']);
    expect(spawnSync(process.execPath, [...flags, '--version']).status).toBe(0);
    const surroundings = JSON.parse(readFileSync(join(root, 'deploy/images/environment.json'), 'utf8')) as Record<string, string>;
    const set = [...dockerfile.matchAll(/^ENV (.+)$/gm)].flatMap(([, line]) => (line as string).split(' '));
    expect(set).toEqual(expect.arrayContaining(Object.entries(surroundings).map(([name, value]) => `${name}=${value}`)));
  });

  test('mounted files exist, and every service is one image, built once from the one Dockerfile', () => {
    for (const service of Object.values(file.services))
      for (const volume of service.volumes ?? []) if (volume.startsWith('./')) expect(existsSync(join(root, volume.split(':')[0] as string))).toBe(true);
    // An engine without BuildKit builds for each service that asks: seven builds at once took seven minutes.
    const build = { context: '.', dockerfile: 'deploy/images/Dockerfile', args: { NODE_IMAGE: '${NODE_IMAGE:-node:24-bookworm-slim}' } };
    expect(Object.entries(file.services).flatMap(([name, service]) => (service.build ? [[name, service.build]] : []))).toEqual([['stats', build]]);
    for (const [name, { command, image }] of ours) expect([name, command, image]).toEqual([name, ['serve', name], '${GATEWAY_IMAGE:-model-gateway:local}']);
  });

  test('the start order is possible', () => {
    const order = startOrder(file.services);
    expect(order.at(-1) === 'edge' || order.indexOf('edge') > order.indexOf('console')).toBe(true);
    for (const [name, { depends_on = {} }] of Object.entries(file.services))
      for (const [other, { condition }] of Object.entries(depends_on)) {
        expect(condition).toBe('service_healthy');
        expect(order.indexOf(other)).toBeLessThan(order.indexOf(name));
      }
  });
});

/** The image's folder: what the build gives, and of packages only those with a compiled part. */
const app = mkdtempSync(join(tmpdir(), 'gateway-image-'));
let upstream: FakeUpstream;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  await promisify(execFile)(process.execPath, [join(root, 'scripts/build.mjs'), app]);
}, 600_000);
afterAll(async () => {
  await upstream.close();
  rmSync(app, { recursive: true, force: true });
});

const entryPoint = (): string[] => {
  const found = /^ENTRYPOINT (\[.*\])$/m.exec(dockerfile)?.[1];
  const [node, ...rest] = JSON.parse(found ?? '[]') as string[];
  expect(node).toBe('node');
  return [process.execPath, ...rest.map((part) => part.replace(/^\/app\//, `${app}/`))];
};
const configuration = () => ({
  upstreams: [{ name: 'fake', protocol: 'alpha', base_url: upstream.url, api_keys: [{ key: 'sk-upstream' }] }],
  models: [{ name: 'm', upstream: 'fake', upstream_model_id: 'ok' }],
  key_groups: [{ name: 'all', models: ['*'] }],
  access_keys: [{ name: 'caller', group: 'all', key: accessKey }],
});
const accessKey = 'imported-key-of-a-caller-0123';
const consoleSecret = `cs-${randomBytes(24).toString('hex')}`;

async function importInto(url: string): Promise<void> {
  const reply = await fetch(`${url}/console/api/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${consoleSecret}`, 'content-type': 'application/json' },
    body: JSON.stringify(configuration()),
  });
  expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('dry_run')]);
}
const post = (url: string, path: string, body: object): Promise<Response> =>
  fetch(url + path, { method: 'POST', headers: { 'x-api-key': accessKey, 'content-type': 'application/json' }, body: JSON.stringify(body) });
const message = (content: string, stream = false) => ({ model: 'm', stream, max_tokens: 50, messages: [{ role: 'user', content }] });
/** A process that was just configured may be a poll behind. */
async function expectReply(url: string, content: string): Promise<void> {
  const deadline = Date.now() + 30_000;
  let reply = await post(url, '/v1/messages', message(content));
  while (reply.status === 401 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    reply = await post(url, '/v1/messages', message(content));
  }
  expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining(content)]);
}

test('the image’s own content is a whole gateway: `up`, a reply, a stream, tokens counted in the worker, a clean end', async () => {
  const [port, probe] = [await freePort(), await freePort()];
  const env = {
    PATH: process.env['PATH'] ?? '',
    DATA_DIR: join(app, 'data'),
    CONFIG_FILE: '/dev/null',
    PORT: `${port}`,
    HOST: '127.0.0.1',
    PROMETHEUS_PORT: `${probe}`,
    CONSOLE_SECRET_KEY: consoleSecret,
    SERVICE: /^ARG SERVICE=(\w+)$/m.exec(dockerfile)?.[1] ?? '',
  };
  const url = `http://127.0.0.1:${port}`;
  const instance = startInstance(
    'up',
    entryPoint(),
    env,
    ['CMD', process.execPath, '-e', `fetch('${url}/readyz').then(r=>process.exit(r.ok?0:1),()=>process.exit(1))`],
    100_000,
  );
  try {
    await instance.healthy();
    await importInto(url);
    // Long enough to be read by a thread, whose file the image must hold.
    const long = await fetch(`${url}/console/api/import?dry_run=true`, {
      method: 'POST',
      headers: { authorization: `Bearer ${consoleSecret}`, 'content-type': 'application/yaml' },
      body: `key_groups:\n${Array.from({ length: 500 }, (_, index) => `  - name: group-${index}\n`).join('')}`,
    });
    expect([long.status, ((await long.json()) as { created: { key_groups: string[] } }).created.key_groups.length]).toEqual([200, 500]);
    await expectReply(url, 'hello image');
    const stream = await (await post(url, '/v1/messages', message('streamed hello', true))).text();
    expect(stream).toContain('event: message_stop');
    const counted = await post(url, '/v1/messages/count_tokens', message('one two three four five'));
    expect(counted.status).toBe(200);
    const { input_tokens: tokens } = (await counted.json()) as { input_tokens: number };
    expect(tokens).toBeGreaterThanOrEqual(5);
    expect(tokens).toBeLessThan(20);
  } finally {
    expect(await stopInstance(instance, 45_000)).toBe(0);
  }
});

const redis = spawnSync('redis-server', ['--version']).status === 0;
const canRun = splitAvailable('compose') && redis;
if (!redis) process.stderr.write('compose DID NOT RUN as a whole: no redis-server on this machine\n');

(canRun ? describe : describe.skip)('docker compose up --scale edge=2', () => {
  const secrets: Record<string, string> = {
    GATEWAY_MASTER_KEY: randomBytes(32).toString('base64'),
    CONSOLE_SECRET_KEY: consoleSecret,
    CONSOLE_PASSWORD: randomBytes(12).toString('hex'),
    POSTGRES_PASSWORD: randomBytes(24).toString('hex'),
    REDIS_PASSWORD: randomBytes(24).toString('hex'),
    // All digits: the worst that `openssl rand -hex` can give to a configuration file.
    ...Object.fromEntries(ours.map(([name], at) => [passwordVariable(name), `123456789012345${at}`])),
  };
  const instances: Instance[] = [];
  let postgres: TestPostgres;
  const edges: string[] = [];
  let redisPort: number;
  const home = mkdtempSync(join(tmpdir(), 'gateway-compose-'));

  beforeAll(async () => {
    expect(secretNames.sort()).toEqual(Object.keys(secrets).sort());
    const local = { nats: await freePort(), monitor: await freePort(), redis: await freePort() };
    redisPort = local.redis;
    postgres = await openTestPostgres();
    const database = new URL(await postgres.createDatabase());
    const rewrite = (value: string): string =>
      value
        .replace('@nats:4222', `@127.0.0.1:${local.nats}`)
        .replace('@redis:6379', `@127.0.0.1:${local.redis}`)
        .replace('@postgres:5432/gateway', `@${database.host}${database.pathname}`)
        .replace('127.0.0.1:8222', `127.0.0.1:${local.monitor}`);
    const conf = join(home, 'nats.conf');
    writeFileSync(
      conf,
      readFileSync(join(root, 'deploy/nats/nats.conf'), 'utf8')
        .replace('port: 4222', `port: ${local.nats}`)
        .replace('127.0.0.1:8222', `127.0.0.1:${local.monitor}`)
        .replace('/data', join(home, 'nats')),
    );
    const binaries = readdirSync('/usr/lib/postgresql').map((version) => join('/usr/lib/postgresql', version, 'bin'));
    const path = [process.env['PATH'], ...binaries].join(delimiter);
    const environment = (service: ComposeService): Record<string, string> =>
      Object.fromEntries(
        Object.entries(service.environment ?? {}).map(([key, value]) => [key, value === null ? secrets[key]! : rewrite(interpolate(String(value), secrets))]),
      );
    const wait = ({ healthcheck }: ComposeService): number =>
      duration(healthcheck!.interval) * healthcheck!.retries + duration(healthcheck?.start_period ?? '0s');

    const start: Record<string, (service: ComposeService) => Promise<void>> = {
      async nats(service) {
        const command = [findNatsServer()!, ...service.command!.map((part) => part.replace('/etc/nats/nats.conf', conf))];
        await run('nats', command, { PATH: path, ...environment(service) }, service.healthcheck!.test.map(rewrite), wait(service));
      },
      async redis(service) {
        const check = service.healthcheck!.test.map((part) => part.replace('redis-cli', `redis-cli -p ${local.redis}`));
        const own = `redis-server - --port ${local.redis} --dir ${home}`;
        const command = service.entrypoint!.map((part) => interpolate(part, secrets).replace('redis-server -', own));
        await run('redis', command, { PATH: path, ...environment(service) }, check, wait(service));
      },
      // Started by the test's own means; its health check must pass all the same.
      async postgres(service) {
        const check = service.healthcheck!.test.map((part) => part.replace('pg_isready', `pg_isready -h ${database.hostname} -p ${database.port}`));
        await run('postgres', ['sleep', '1000'], { PATH: path }, check, wait(service));
      },
    };
    const startOurs = async (name: string, service: ComposeService, replica: number): Promise<void> => {
      const [port, probe] = [await freePort(), await freePort()];
      const data = join(home, `${name}-${replica}`);
      mkdirSync(data);
      const given = environment(service);
      // One network name space here: what each container has for itself needs a port of its own.
      const own = { ...(given['PORT'] !== undefined && { PORT: `${port}` }), PROMETHEUS_PORT: given['PROMETHEUS_PORT']!.replace('9464', `${probe}`) };
      const env = { PATH: path, NODE_ENV: 'production', SERVICE: name, DATA_DIR: data, ...given, ...own };
      const check = service.healthcheck!.test.map((part) => part.replace('127.0.0.1/9464', `127.0.0.1/${probe}`));
      await run(`${name}-${replica}`, [...entryPoint(), ...service.command!], env, check, wait(service));
      if (name === 'edge') edges.push(`http://127.0.0.1:${port}`);
    };
    // As compose does it: each as soon as what it depends on is healthy, the others at the same time.
    const healthy = new Map<string, Promise<unknown>>();
    for (const name of startOrder(file.services)) {
      const service = file.services[name]!;
      const replicas = name === 'edge' ? [1, 2] : [1];
      const needed = Promise.all(Object.keys(service.depends_on ?? {}).map((other) => healthy.get(other)));
      healthy.set(
        name,
        needed.then((): Promise<unknown> => start[name]?.(service) ?? Promise.all(replicas.map((replica) => startOurs(name, service, replica)))),
      );
    }
    await Promise.all(healthy.values());
  }, 300_000);

  async function run(name: string, command: string[], env: Record<string, string>, check: string[], maxWaitMs: number): Promise<void> {
    const instance = startInstance(name, command, env, check, maxWaitMs);
    instances.push(instance);
    await instance.healthy();
  }

  afterAll(async () => {
    for (const instance of [...instances].reverse()) await stopInstance(instance, 45_000);
    await postgres?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  test('both edges answer with the one configuration, and both leave their rows', async () => {
    expect(edges).toHaveLength(2);
    await importInto(edges[0]!);
    for (const url of edges) await expectReply(url, `hello from ${url}`);
    const reply = await fetch(`${edges[1]}/console/api/export?format=json`, { headers: { authorization: `Bearer ${consoleSecret}` } });
    expect(((await reply.json()) as { models: { name: string }[] }).models.map(({ name }) => name)).toEqual(['m']);
    const deadline = Date.now() + 30_000;
    let rows: { status: number }[] = [];
    while (rows.length < 2 && Date.now() < deadline) {
      const logs = await fetch(`${edges[0]}/console/api/logs?status=200`, { headers: { authorization: `Bearer ${consoleSecret}` } });
      rows = ((await logs.json()) as { items: { status: number }[] }).items;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(rows).toHaveLength(2);
  });

  test('Redis lets nobody in without the password', async () => {
    const answers = (password: string): string =>
      spawnSync('redis-cli', ['-p', `${redisPort}`, 'dbsize'], { env: { PATH: process.env['PATH'] ?? '', REDISCLI_AUTH: password } }).stdout.toString();
    expect(answers('')).toContain('NOAUTH');
    // Both edges count there.
    expect(Number(answers(secrets['REDIS_PASSWORD']!).trim())).toBeGreaterThan(0);
  });

  test('the master key is in the environment of those alone who open secrets', () => {
    for (const { name, child } of instances) {
      const environment = readFileSync(`/proc/${child.pid}/environ`, 'utf8');
      expect([name, environment.includes(secrets['GATEWAY_MASTER_KEY']!)]).toEqual([name, /^(translator|data-plane|stats|console)-/.test(name)]);
    }
  });

  test('a service that is stopped as compose stops it ends with code 0 within its grace', async () => {
    for (const name of ['edge-2', 'translator-1']) {
      const instance = instances.find((one) => one.name === name)!;
      const grace = duration(file.services[name.split('-')[0]!]!.stop_grace_period!);
      const began = performance.now();
      expect([name, await stopInstance(instance, grace), instance.log()]).toEqual([name, 0, expect.anything()]);
      expect(performance.now() - began).toBeLessThan(grace);
    }
  });

  test('no secret in any output', () => {
    for (const { name, log } of instances)
      for (const [key, value] of Object.entries(secrets)) expect([name, key, log().includes(value)]).toEqual([name, key, false]);
  });
});
