/** docker-compose.yml as real containers, with an upstream on this machine. */
import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sleep, until } from '../support/callers.ts';
import { accessKey } from './traffic.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

export const image = process.env['GATEWAY_IMAGE'] ?? 'model-gateway:test';
const edgePorts = process.env['EDGE_PORTS'] ?? '27890-27899';
export const previousImage = process.env['PREVIOUS_IMAGE'] ?? 'model-gateway:previous';

/** Two edges and two translators of one arrangement. */
export class Stack {
  readonly #project = `gatewaytest${process.pid}`;
  readonly #folder = mkdtempSync(join(tmpdir(), 'gateway-containers-'));
  #upstream: Server | undefined;
  #upstreamUrl = '';
  edges: string[] = [];
  secret = '';

  constructor() {
    mkdirSync(join(this.#folder, 'deploy'));
    for (const name of ['.env.example', 'deploy/new-env.sh']) copyFileSync(join(root, name), join(this.#folder, name));
    const made = spawnSync('sh', [join(this.#folder, 'deploy/new-env.sh')]);
    if (made.status !== 0) throw new Error(made.stderr.toString());
    this.secret = /^CONSOLE_SECRET_KEY=(.+)$/m.exec(readFileSync(join(this.#folder, '.env'), 'utf8'))?.[1] ?? '';
  }

  /** `docker compose` on this arrangement, whose services are of the image. */
  async compose(from: string, ...args: string[]): Promise<string> {
    const all = ['compose', '--project-directory', root, '-p', this.#project, '--env-file', join(this.#folder, '.env'), ...args];
    const { stdout } = await run('docker', all, {
      env: { ...process.env, GATEWAY_IMAGE: from, EDGE_PORTS: edgePorts },
      maxBuffer: 1e8,
    });
    return stdout;
  }

  /** Starts what is not running, or is of another image; all of it, or the services that are named. */
  async up(from: string, ...services: string[]): Promise<void> {
    const scale = ['edge', 'translator'].filter((name) => services.length === 0 || services.includes(name)).flatMap((name) => ['--scale', `${name}=2`]);
    for (let triesLeft = 5; ; triesLeft--) {
      try {
        await this.compose(from, 'up', '-d', '--no-build', '--wait', ...(services.length > 0 ? ['--no-deps'] : []), ...scale, ...services);
        break;
      } catch (error) {
        // It gives up where a busy machine is late with a few probes, while what it started goes on.
        if (triesLeft === 1 || !/unhealthy/.test(String(error))) throw error;
        await until(() => this.#allHealthy(), 'containers to be healthy again', 300_000);
      }
    }
    await this.findEdges();
  }

  async #allHealthy(): Promise<boolean> {
    const { stdout } = await run('docker', ['ps', '--filter', `label=com.docker.compose.project=${this.#project}`, '--format', '{{.Status}}']);
    return !/unhealthy|starting/.test(stdout);
  }

  /** An edge that was started again may have another port of the range. */
  async findEdges(): Promise<void> {
    this.edges = await this.#edgeUrls();
  }

  async #edgeUrls(): Promise<string[]> {
    const format = '{{(index (index .NetworkSettings.Ports "7890/tcp") 0).HostPort}}';
    const ports = await Promise.all((await this.containers('edge')).map((one) => this.inspect(one, format)));
    return ports.map((port) => `http://127.0.0.1:${port}`);
  }

  /** As an operator upgrades: all services, by `deploy/compose-upgrade.sh`. */
  async upgrade(to: string): Promise<void> {
    const env = { COMPOSE_PROJECT_NAME: this.#project, COMPOSE_ENV_FILES: join(this.#folder, '.env'), GATEWAY_IMAGE: to, EDGE_PORTS: edgePorts };
    await run('sh', [join(root, 'deploy/compose-upgrade.sh')], { env: { ...process.env, ...env }, maxBuffer: 1e8 });
    await this.findEdges();
  }

  /** Keeps to the edges that are ready, as a load balancer does, until it is stopped. */
  balance(): { stop(): Promise<void> } {
    let stopped = false;
    const isReady = (url: string): Promise<boolean> =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    const running = (async () => {
      for (; !stopped; await sleep(200)) {
        // A container may go while it is looked at.
        const all = await this.#edgeUrls().catch(() => this.edges);
        const ready = await Promise.all(all.map(isReady));
        const left = all.filter((_, at) => ready[at]);
        if (left.length > 0) this.edges = left;
      }
    })();
    return {
      async stop() {
        stopped = true;
        await running;
      },
    };
  }

  /** Container ids of a service. */
  async containers(service: string): Promise<string[]> {
    return (await this.compose(image, 'ps', '-q', service)).split('\n').filter(Boolean);
  }

  /** As a crash ends it, so that the engine starts it again. */
  async crash(container: string): Promise<void> {
    const { stdout } = await run('docker', ['inspect', '-f', '{{.State.Pid}}', container]);
    process.kill(Number(stdout.trim()), 'SIGKILL');
  }

  async inspect(container: string, format: string): Promise<string> {
    return (await run('docker', ['inspect', '-f', format, container])).stdout.trim();
  }

  async exec(container: string, ...command: string[]): Promise<{ code: number; output: string }> {
    const { status, stdout, stderr } = spawnSync('docker', ['exec', container, ...command], { encoding: 'utf8', timeout: 60_000 });
    return { code: status ?? -1, output: stdout + stderr };
  }

  async isHealthy(container: string): Promise<boolean> {
    return (await this.inspect(container, '{{.State.Health.Status}}')) === 'healthy';
  }

  /** Streams for two seconds, a word every 100 ms, at an address that the containers reach. */
  async startUpstream(): Promise<void> {
    const { stdout } = await run('docker', ['network', 'inspect', '-f', '{{range .IPAM.Config}}{{.Gateway}}{{end}}', `${this.#project}_outside`]);
    this.#upstream = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      let sent = 0;
      const chunk = (delta: object, finish: string | null): string =>
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
      const timer = setInterval(() => {
        sent++;
        if (sent <= 20) response.write(chunk({ role: 'assistant', content: `word${sent} ` }, null));
        else {
          clearInterval(timer);
          response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
        }
      }, 100);
      response.on('close', () => clearInterval(timer));
    });
    await new Promise<void>((resolve) => this.#upstream?.listen(0, stdout.trim(), resolve));
    this.#upstreamUrl = `http://${stdout.trim()}:${(this.#upstream.address() as AddressInfo).port}`;
  }

  async configure(): Promise<void> {
    const reply = await this.console('/import', {
      upstreams: [
        { name: 'slow', protocol: 'alpha', base_url: this.#upstreamUrl, api_keys: [{ key: 'sk-upstream' }] },
        // Nobody calls it: where there is a script, a slot stands ready for it.
        {
          name: 'scripted',
          protocol: 'alpha',
          base_url: this.#upstreamUrl,
          api_keys: [{ key: 'sk-upstream' }],
          request_transform_before: 'function transform(body) { return body; }',
        },
      ],
      models: [{ name: 'm', upstream: 'slow', upstream_model_id: 'up' }],
      key_groups: [{ name: 'all', models: ['*'] }],
      access_keys: [{ name: 'caller', group: 'all', key: accessKey }],
    });
    if (reply.status !== 200) throw new Error(`import: ${reply.status} ${await reply.text()}`);
  }

  console(path: string, body?: object): Promise<Response> {
    return fetch(`${this.edges[0]}/console/api${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: { authorization: `Bearer ${this.secret}`, 'content-type': 'application/json' },
    });
  }

  async remove(): Promise<void> {
    this.#upstream?.closeAllConnections();
    this.#upstream?.close();
    await this.#down();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /**
   * The engine may hold an endpoint of a container that was killed and is gone, and refuse to remove its network:
   * such endpoints are disconnected by force. What stays all the same is said, and fails no test.
   */
  async #down(): Promise<void> {
    for (let triesLeft = 5; ; triesLeft--) {
      try {
        await this.compose(image, 'down', '-v', '-t', '5');
        return;
      } catch (error) {
        if (!/has active endpoints/.test(String(error))) throw error;
        if (triesLeft === 1) return void process.stderr.write(`LEFT ON THE ENGINE: networks of ${this.#project}: ${String(error)}\n`);
        await this.#disconnectAll();
        await sleep(2_000);
      }
    }
  }

  async #disconnectAll(): Promise<void> {
    const networks = await run('docker', ['network', 'ls', '-q', '--filter', `label=com.docker.compose.project=${this.#project}`]);
    for (const network of networks.stdout.split('\n').filter(Boolean)) {
      const { stdout } = await run('docker', ['network', 'inspect', '-f', '{{range .Containers}}{{.Name}} {{end}}', network]);
      // It may be gone by now, which is what is wanted.
      for (const name of stdout
        .split(' ')
        .map((one) => one.trim())
        .filter(Boolean))
        await run('docker', ['network', 'disconnect', '-f', network, name]).catch(() => undefined);
    }
  }
}
