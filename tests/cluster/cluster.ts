/** The chart in a namespace of a cluster, driven by kubectl and helm. */
import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { accessKey } from '../containers/traffic.ts';

const run = promisify(execFile);
const chart = join(import.meta.dirname, '../../deploy/chart');
const {
  GATEWAY_IMAGE: image = 'model-gateway:test',
  NATS_IMAGE,
  POSTGRES_IMAGE,
  REDIS_IMAGE,
  NODE_ADDRESS,
  SERVERS_AS_ROOT,
  NATS_REPLICAS = '1',
} = process.env;

/** Keys of the chart's values for the gateway's own pods. */
const ours = ['edge', 'router', 'translator', 'scriptRunner', 'mcpAggregator', 'stats', 'console', 'dataPlane', 'single'];

/** Streams a word every 100 ms for two seconds: the upstream, run from the gateway's own image. */
const upstream = `require('http').createServer((q,r)=>{q.resume();r.writeHead(200,{'content-type':'text/event-stream'});let n=0;const c=(d,f)=>'data: '+JSON.stringify({id:'c',object:'chat.completion.chunk',created:1,model:'up',choices:[{index:0,delta:d,finish_reason:f}]})+'\\n\\n';const t=setInterval(()=>{if(++n<=20)r.write(c({role:'assistant',content:'word'+n+' '},null));else{clearInterval(t);r.end(c({},'stop')+'data: [DONE]\\n\\n')}},100);r.on('close',()=>clearInterval(t))}).listen(8080)`;

export class Cluster {
  readonly #namespace: string;
  readonly #mode: string;
  url = '';
  #secret = '';

  constructor(namespace: string, mode: string) {
    this.#namespace = namespace;
    this.#mode = mode;
  }

  async kubectl(...args: string[]): Promise<string> {
    return (await run('kubectl', ['--namespace', this.#namespace, ...args], { maxBuffer: 1e8 })).stdout;
  }

  async #json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.kubectl(...args, '-o', 'json')) as T;
  }

  async until(check: () => boolean | Promise<boolean>, what: string, ms = 180_000): Promise<void> {
    for (const deadline = Date.now() + ms; !(await check()); ) {
      if (Date.now() > deadline) throw new Error(`not within ${ms / 1000} s: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  async #helm(verb: 'install' | 'upgrade', from = image): Promise<void> {
    const [repository = '', tag = ''] = from.split(/:(?=[^:]*$)/);
    const root = { runAsNonRoot: false, runAsUser: 0, runAsGroup: 0 };
    const writable = { readOnlyRootFilesystem: false, capabilities: { drop: [] } };
    // All of it, and what a rollout adds, has to fit onto one small node.
    const resources = { requests: { cpu: '10m', memory: '64Mi' } };
    const values = {
      ...Object.fromEntries(ours.map((name) => [name, { resources }])),
      mode: this.#mode,
      image: { repository, tag },
      service: { type: 'NodePort' },
      networkPolicy: { outboundAllow: [{ podSelector: { matchLabels: { app: 'upstream' } } }] },
      nats: { ...(NATS_IMAGE && { image: NATS_IMAGE }), replicas: Number(NATS_REPLICAS), storage: { size: '1Gi' }, resources },
      postgresql: {
        ...(POSTGRES_IMAGE && { image: POSTGRES_IMAGE }),
        storage: { size: '1Gi' },
        resources,
        ...(SERVERS_AS_ROOT === '1' && { podSecurityContext: root, securityContext: { ...writable, allowPrivilegeEscalation: true } }),
      },
      redis: { resources, ...(REDIS_IMAGE && { image: REDIS_IMAGE }), ...(SERVERS_AS_ROOT === '1' && { podSecurityContext: root }) },
    };
    const child = spawn('helm', [verb, 'gw', chart, '--namespace', this.#namespace, '--wait', '--timeout', '10m', '--values', '-'], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    child.stdin.end(JSON.stringify(values));
    const code = await new Promise((resolve) => child.once('exit', resolve));
    if (code !== 0) throw new Error(`helm ${verb} ended with ${code}`);
  }

  /** `from`: the image of the first installation. */
  async install(from = image): Promise<void> {
    await this.kubectl('create', 'namespace', this.#namespace);
    await this.kubectl(
      'run',
      'upstream',
      `--image=${image}`,
      '--image-pull-policy=IfNotPresent',
      '--labels=app=upstream',
      '--port=8080',
      '--expose',
      '--command',
      '--',
      'node',
      '-e',
      upstream,
    );
    await this.#helm('install', from);
    const [address] = NODE_ADDRESS
      ? [NODE_ADDRESS]
      : (await this.kubectl('get', 'nodes', '-o', "jsonpath={.items[0].status.addresses[?(@.type=='InternalIP')].address}")).split(' ');
    const port = await this.kubectl('get', 'service', 'gw-model-gateway', '-o', 'jsonpath={.spec.ports[0].nodePort}');
    this.url = `http://${address}:${port}`;
    const secret = await this.kubectl('get', 'secret', 'gw-model-gateway-secrets', '-o', 'jsonpath={.data.CONSOLE_SECRET_KEY}');
    this.#secret = Buffer.from(secret, 'base64').toString();
  }

  #console(path: string, body?: object): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#secret}`, 'content-type': 'application/json' };
    return fetch(`${this.url}/console/api${path}`, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
  }

  async configure(): Promise<void> {
    const reply = await this.#console('/import', {
      upstreams: [{ name: 'slow', protocol: 'alpha', base_url: this.upstreamUrl, api_keys: [{ key: 'sk-upstream' }] }],
      models: [{ name: 'm', upstream: 'slow', upstream_model_id: 'up' }],
      key_groups: [{ name: 'all', models: ['*'] }],
      access_keys: [{ name: 'caller', group: 'all', key: accessKey }],
    });
    if (reply.status !== 200) throw new Error(`import: ${reply.status} ${await reply.text()}`);
  }

  /** Rows of a request by the caller's own id. */
  async rows(id: string): Promise<number> {
    const reply = await this.#console(`/logs?request_id=${id}`);
    return reply.ok ? ((await reply.json()) as { items: unknown[] }).items.length : 0;
  }

  /** How many durable messages could not be stored (the first page of them). */
  async deadLetters(): Promise<number> {
    return ((await (await this.#console('/dead-letters')).json()) as { items: unknown[] }).items.length;
  }

  /** To the image under test. */
  upgrade(): Promise<void> {
    return this.#helm('upgrade');
  }

  /** Images of the gateway's own pods. */
  async images(): Promise<string[]> {
    const workloads = await this.workloads();
    const images = workloads.map((name) => this.kubectl('get', name, '-o', 'jsonpath={.spec.template.spec.containers[0].image}'));
    return [...new Set(await Promise.all(images))];
  }

  /** What helm printed at the end of the installation. */
  async notes(): Promise<string> {
    return (await run('helm', ['get', 'notes', 'gw', '--namespace', this.#namespace])).stdout;
  }

  /** Of the upstream within the cluster. */
  get upstreamUrl(): string {
    return `http://upstream.${this.#namespace}:8080`;
  }

  async secretsKeptOverUpgrade(): Promise<boolean> {
    const read = async (): Promise<string> => {
      const { items } = await this.#json<{ items: { metadata: { name: string }; data?: object }[] }>('get', 'secret', '-l', 'app.kubernetes.io/instance=gw');
      return JSON.stringify(items.map(({ metadata, data }) => [metadata.name, data]));
    };
    const before = await read();
    await this.#helm('upgrade');
    return (await read()) === before;
  }

  /** The gateway's own, as `deployment/…`. */
  async workloads(): Promise<string[]> {
    const names = await this.kubectl(
      'get',
      'deployment,statefulset',
      '-l',
      'app.kubernetes.io/instance=gw,app.kubernetes.io/component notin (nats,postgresql,redis)',
      '-o',
      'name',
    );
    return names.split('\n').filter(Boolean);
  }

  async components(): Promise<string[]> {
    const { items } = await this.#json<{ items: { metadata: { labels: Record<string, string> } }[] }>('get', 'pods', '-l', 'app.kubernetes.io/instance=gw');
    return [...new Set(items.map(({ metadata }) => metadata.labels['app.kubernetes.io/component'] ?? ''))];
  }

  async restart(workload: string): Promise<void> {
    await this.kubectl('rollout', 'restart', workload);
    await this.kubectl('rollout', 'status', workload, '--timeout=10m');
  }

  async #pods(component: string): Promise<string[]> {
    return (
      await this.kubectl(
        'get',
        'pods',
        '-l',
        `app.kubernetes.io/instance=gw,app.kubernetes.io/component=${component}`,
        '--field-selector=status.phase=Running',
        '-o',
        'name',
      )
    )
      .split('\n')
      .filter(Boolean);
  }

  /** Without a word of warning; waits until there is another that is ready. */
  async kill(component: string): Promise<void> {
    const [pod = ''] = await this.#pods(component);
    await this.kubectl('delete', pod, '--grace-period=0', '--force');
    await this.kubectl('wait', 'pod', '-l', `app.kubernetes.io/instance=gw,app.kubernetes.io/component=${component}`, '--for=condition=Ready', '--timeout=5m');
  }

  /** What the API answers when all pods are to leave at once, as in a drain of their node. */
  async evictAll(component: string): Promise<{ allowed: number; refused: number }> {
    const answers = { allowed: 0, refused: 0 };
    for (const pod of await this.#pods(component)) {
      const name = pod.replace('pod/', '');
      const body = JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: this.#namespace } });
      const child = spawn('kubectl', ['create', '--raw', `/api/v1/namespaces/${this.#namespace}/pods/${name}/eviction`, '-f', '-'], {
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      child.stdin.end(body);
      if ((await new Promise((resolve) => child.once('exit', resolve))) === 0) answers.allowed++;
      else answers.refused++;
    }
    await this.kubectl('wait', 'pod', '-l', `app.kubernetes.io/instance=gw,app.kubernetes.io/component=${component}`, '--for=condition=Ready', '--timeout=5m');
    return answers;
  }

  /** Away, or as many as were installed. */
  async scaleNats(away: boolean): Promise<void> {
    const replicas = away ? 0 : Number(NATS_REPLICAS);
    await this.kubectl('scale', 'statefulset/gw-model-gateway-nats', `--replicas=${replicas}`);
    if (replicas === 0) await this.kubectl('wait', 'pod', '-l', 'app.kubernetes.io/component=nats', '--for=delete', '--timeout=3m');
    else await this.kubectl('rollout', 'status', 'statefulset/gw-model-gateway-nats', '--timeout=5m');
  }

  /** All that a pod writes until it is gone. */
  async logsOfLeaving(component: string): Promise<string> {
    const [pod = ''] = await this.#pods(component);
    const logs = run('kubectl', ['--namespace', this.#namespace, 'logs', '--follow', pod], { maxBuffer: 1e8 });
    await this.kubectl('delete', pod);
    return (await logs).stdout;
  }

  /** Deletes a pod, and tells when its service stopped sending connections to it and when it began to drain, both in ms since the epoch. */
  async leave(component: string): Promise<{ forgottenAt: number; drainingAt: number }> {
    const [pod = ''] = await this.#pods(component);
    const name = pod.replace('pod/', '');
    const takesConnections = async (): Promise<boolean> => {
      const { items } = await this.#json<{ items: { endpoints: { targetRef?: { name: string }; conditions: { ready?: boolean } }[] }[] }>(
        'get',
        'endpointslices',
        '-l',
        'kubernetes.io/service-name=gw-model-gateway',
      );
      return items.some(({ endpoints }) => endpoints.some(({ targetRef, conditions }) => targetRef?.name === name && conditions.ready !== false));
    };
    await this.until(takesConnections, `${name} among the endpoints`);
    const logs = run('kubectl', ['--namespace', this.#namespace, 'logs', '--follow', '--timestamps', pod], { maxBuffer: 1e8 });
    const gone = this.kubectl('delete', pod);
    await this.until(async () => !(await takesConnections()), `${name} no longer among the endpoints`);
    const forgottenAt = Date.now();
    await gone;
    const line = (await logs).stdout.split('\n').find((text) => text.includes('process draining')) ?? '';
    const drainingAt = Date.parse(line.split(' ')[0] ?? '');
    if (Number.isNaN(drainingAt)) throw new Error(`${name} does not say that it drains`);
    return { forgottenAt, drainingAt };
  }

  async remove(): Promise<void> {
    await run('helm', ['uninstall', 'gw', '--namespace', this.#namespace]).catch(() => undefined);
    await run('kubectl', ['delete', 'namespace', this.#namespace, '--wait=false']);
  }
}
