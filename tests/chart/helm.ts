/** Renders deploy/chart with Helm, and reads what comes out. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

const root = join(import.meta.dirname, '../..');
export const chart = join(root, 'deploy/chart');

/** `HELM`, or the one of `tests/chart/tools.sh`, or that of the path. */
const helm = process.env['HELM'] ?? [join(process.env['TOOLS_CACHE'] ?? join(homedir(), '.cache/model-gateway-tools'), 'bin/helm')].find(existsSync) ?? 'helm';

/** A rendered object, as far as tests look into it. */
// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes, of any kind.
export type Rendered = any;

export function runHelm(args: readonly string[]): { status: number | null; output: string; errors: string } {
  const { status, stdout, stderr, error } = spawnSync(helm, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, KUBECONFIG: '/dev/null' },
  });
  if (error) throw new Error(`no helm (${error.message}): run tests/chart/tools.sh, or say where it is in HELM`);
  return { status, output: stdout, errors: stderr };
}

export interface RenderOptions {
  values?: object;
  release?: string;
  args?: readonly string[];
}

/** The YAML that Kubernetes would be given. Throws with Helm's words where it refuses. */
export function renderText({ values = {}, release = 'try', args = [] }: RenderOptions = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-chart-'));
  try {
    const file = join(folder, 'values.yaml');
    writeFileSync(file, JSON.stringify(values));
    const { status, output, errors } = runHelm(['template', release, chart, '--namespace', 'there', '--values', file, ...args]);
    if (status !== 0) throw new Error(errors);
    return output;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const parseObjects = (text: string): Rendered[] =>
  parseAllDocuments(text)
    .map((one) => one.toJS() as Rendered)
    .filter((one) => one !== null);

export const render = (options: RenderOptions = {}): Rendered[] => parseObjects(renderText(options));

export const ofKind = (objects: readonly Rendered[], ...kinds: string[]): Rendered[] => objects.filter(({ kind }) => kinds.includes(kind));
export const workloads = (objects: readonly Rendered[]): Rendered[] => ofKind(objects, 'Deployment', 'StatefulSet');
export const componentOf = (object: Rendered): string => object.metadata.labels['app.kubernetes.io/component'];

/** Nothing of the chart's own servers and secrets: rendered twice it is the same. */
export const given = {
  secrets: { existingSecret: 'keys' },
  nats: { existingSecret: 'nats' },
  postgresql: { existingSecret: 'database' },
  redis: { existingSecret: 'redis' },
};

const external = (secret: string) => ({ enabled: false, existingSecret: secret });
/** With an authority and a certificate of the services. */
const secured = (secret: string) => ({ ...external(secret), tls: { existingSecret: `${secret}-tls`, certKey: 'tls.crt', keyKey: 'tls.key' } });

/** The arrangements that every check of rendered YAML goes through. */
export const matrix: Record<string, RenderOptions> = {
  default: {},
  single: { values: { mode: 'single' } },
  'data-plane': { values: { mode: 'data-plane', ...given } },
  'external-db': { values: { postgresql: external('database') } },
  'external-nats': { values: { nats: external('nats') } },
  'tls-files': {
    values: {
      nats: secured('nats'),
      postgresql: secured('database'),
      redis: { ...external('redis'), tls: { existingSecret: 'redis-tls', serverName: 'redis.example.com' } },
      settings: { REQUIRE_TLS: true },
    },
  },
  'nats-cluster': { values: { nats: { replicas: 3 } } },
  'no-redis': { values: { redis: { enabled: false } } },
  'all-on': {
    args: ['--api-versions', 'monitoring.coreos.com/v1'],
    values: {
      ...given,
      settings: { LOG_LEVEL: 'debug', OUTBOUND_PRIVATE: 'deny', RATE_LIMIT_RPM: 1000000, SCRIPT_LAZY_BODY: false, CONSOLE_MAX_FAILURES: 3, STATS_ROW_DAYS: 7 },
      toml: '[server]\ndrain_seconds = 20\n',
      secrets: { existingSecret: 'keys', oidcSecret: 'oidc', telemetrySecret: 'collector' },
      outbox: { persistence: { enabled: true, storageClass: 'fast' } },
      image: { digest: `sha256:${'a'.repeat(64)}`, pullSecrets: ['registry'] },
      edge: { autoscaling: { enabled: true }, podAnnotations: { a: 'b' }, nodeSelector: { disk: 'ssd' }, tolerations: [{ key: 'x', operator: 'Exists' }] },
      translator: { autoscaling: { enabled: true }, podLabels: { c: 'd' }, extraEgress: [{ to: [{ ipBlock: { cidr: '10.1.0.0/16' } }] }] },
      ingress: { enabled: true, host: 'gateway.example.com', className: 'nginx', tlsSecret: 'tls' },
      gatewayApi: { enabled: true, parentRefs: [{ name: 'public' }], hostnames: ['gateway.example.com'] },
      networkPolicy: { edgeFrom: [{ namespaceSelector: {} }], metricsFrom: [{ namespaceSelector: {} }], outboundAllow: [{ ipBlock: { cidr: '10.2.0.0/16' } }] },
      metrics: { serviceMonitor: true, rules: true, labels: { release: 'prometheus' } },
      priorityClassName: 'high',
    },
  },
};
