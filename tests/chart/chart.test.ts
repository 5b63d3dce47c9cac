/** What the Helm chart renders, over every arrangement that it has. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { environmentOf } from '@model-gateway/config';
import { compositions, type ServiceName, serviceSubjects } from '@model-gateway/contracts';
import { chart, componentOf, given, matrix, ofKind, type Rendered, render, renderText, runHelm, workloads } from './helm.ts';

const services = Object.keys(serviceSubjects) as ServiceName[];
const servers = ['nats', 'postgresql', 'redis'];
const rendered = Object.fromEntries(Object.entries(matrix).map(([name, options]) => [name, render(options)]));
const containerOf = (workload: Rendered): Rendered => workload.spec.template.spec.containers[0];
const isOurs = (workload: Rendered): boolean => !servers.includes(componentOf(workload));

test('files that follow from the rest of the repository are up to date: node scripts/write-chart.mjs', async () => {
  const { chartFiles } = (await import('../../scripts/write-chart.mjs' as string)) as { chartFiles(): Record<string, string> };
  for (const [name, text] of Object.entries(chartFiles())) expect([name, readFileSync(join(chart, name), 'utf8') === text]).toEqual([name, true]);
});

test('helm lint finds nothing, as strict as it can be', () => {
  const { status, output, errors } = runHelm(['lint', '--strict', chart]);
  expect([status, errors, /\[(WARNING|ERROR)\]/.test(output)]).toEqual([0, '', false]);
});

describe('values', () => {
  test.each([
    [{ replicsa: 2 }, 'replicsa'],
    [{ edge: { replica: 2 } }, 'replica'],
    [{ edge: { replicas: 'two' } }, 'replicas'],
    [{ settings: { LOG_LEVL: 'debug' } }, 'LOG_LEVL'],
    [{ settings: { GATEWAY_MASTER_KEY: 'x' } }, 'GATEWAY_MASTER_KEY'],
    [{ mode: 'both' }, 'mode'],
    [{ image: { digest: 'latest' } }, 'digest'],
    [{ networkPolicy: { enable: false } }, 'enable'],
    [{ outbox: { persistance: {} } }, 'persistance'],
  ])('%j is refused by name', (values, name) => {
    expect(() => renderText({ values })).toThrow(name);
  });

  test('an external server without its Secret is refused with what is missing', () => {
    expect(() => renderText({ values: { nats: { enabled: false } } })).toThrow('NATS_URL_EDGE');
    expect(() => renderText({ values: { postgresql: { enabled: false } } })).toThrow('DATABASE_URL');
  });
});

describe.each(Object.keys(matrix))('%s', (arrangement) => {
  const objects = rendered[arrangement]!;

  test('has the pods that it should have', () => {
    const absent = { single: [], 'external-db': ['postgresql'], 'external-nats': ['nats'], 'no-redis': ['redis'], 'tls-files': servers }[arrangement] ?? [];
    const composed: readonly string[] = arrangement === 'data-plane' ? compositions['data-plane'] : ['data-plane'];
    const expected =
      arrangement === 'single' ? ['single'] : [...services, ...servers].filter((name) => !(absent as string[]).includes(name) && !composed.includes(name));
    expect(workloads(objects).map(componentOf).sort()).toEqual(expected.sort());
  });

  test('each pod is given what its service reads, and nothing more; secrets by reference', () => {
    for (const workload of workloads(objects).filter(isOurs)) {
      const name = componentOf(workload);
      const readable = new Set(name === 'single' ? services.flatMap(environmentOf) : environmentOf(name as ServiceName));
      const env = containerOf(workload).env as Rendered[];
      expect([name, env.map((one) => one.name).filter((one) => !readable.has(one))]).toEqual([name, []]);
      expect(new Set(env.map((one) => one.name)).size).toBe(env.length);
      for (const one of env)
        if (/KEY|PASSWORD|SECRET|_URL$|OTLP_(ENDPOINT|HEADERS)/.test(one.name) && !one.name.endsWith('_FILE'))
          expect([name, one.name, Object.keys(one)]).toEqual([name, one.name, ['name', 'valueFrom']]);
      expect(containerOf(workload).envFrom).toBeUndefined();
      // What it cannot do without.
      const needed =
        name === 'single'
          ? ['GATEWAY_MASTER_KEY', 'DATA_DIR']
          : ['NATS_URL', 'NATS_PERMISSIONS', ...environmentOf(name as ServiceName).filter((one) => ['GATEWAY_MASTER_KEY', 'DATABASE_URL'].includes(one))];
      expect(env.map((one) => one.name)).toEqual(expect.arrayContaining(needed));
    }
  });

  test('no secret in a ConfigMap or among arguments, and none of the cluster’s rights in a pod', () => {
    for (const { data } of ofKind(objects, 'ConfigMap'))
      expect(JSON.stringify(data)).not.toMatch(/nats:\/\/\w|postgres(ql)?:\/\/|redis:\/\/|BEGIN [A-Z ]*PRIVATE/);
    for (const workload of workloads(objects)) {
      const { args = [], command = [] } = containerOf(workload);
      expect([...args, ...command].join(' ')).not.toMatch(/:\/\/\S+@/);
      expect(workload.spec.template.spec.automountServiceAccountToken).toBe(false);
      expect(workload.spec.template.spec.serviceAccountName).toBeUndefined();
    }
    expect(ofKind(objects, 'ServiceAccount', 'Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding')).toEqual([]);
  });

  test('every container has probes, limits and the narrowest security context', () => {
    for (const workload of workloads(objects)) {
      const { spec } = workload.spec.template;
      for (const container of spec.containers) {
        for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
          expect([container.name, probe, typeof container[probe]]).toEqual([container.name, probe, 'object']);
        expect([container.name, container.resources]).toEqual([
          container.name,
          { requests: { cpu: expect.any(String), memory: expect.any(String) }, limits: { memory: expect.any(String) } },
        ]);
        expect(container.securityContext).toEqual({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } });
        expect(container.imagePullPolicy).toBe('IfNotPresent');
        expect(container.image).toMatch(/:[\w.-]+$/);
      }
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      expect(spec.securityContext.runAsUser).toBeGreaterThan(0);
    }
    // What breaks out of a script owns nothing of another service's.
    const uids = workloads(objects)
      .filter(isOurs)
      .map((one) => [componentOf(one) === 'script-runner', one.spec.template.spec.securityContext.runAsUser]);
    for (const [isRunner, uid] of uids) expect(uid).toBe(isRunner ? 10001 : 1000);
  });

  test('a pod has time to leave: it is taken off the service first, then drains', () => {
    for (const workload of workloads(objects).filter(isOurs)) {
      const { terminationGracePeriodSeconds } = workload.spec.template.spec;
      const before = containerOf(workload).lifecycle.preStop.sleep.seconds as number;
      expect(before).toBeGreaterThanOrEqual(5);
      // Lame duck, drain, and what is flushed after it.
      expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(before + 2 + 30 + 5);
    }
  });

  test('what an outbox holds is kept, or its folder goes with the pod', () => {
    for (const workload of workloads(objects).filter(isOurs)) {
      const { volumes } = workload.spec.template.spec;
      const data = volumes.find((one: Rendered) => one.name === 'data');
      if (workload.kind === 'StatefulSet') expect([data, workload.spec.volumeClaimTemplates[0].metadata.name]).toEqual([undefined, 'data']);
      else if (arrangement === 'single')
        expect([workload.spec.strategy, data.persistentVolumeClaim]).toEqual([{ type: 'Recreate' }, { claimName: 'try-model-gateway-data' }]);
      else expect(data.emptyDir).toBeDefined();
    }
    const stateful = ofKind(objects, 'StatefulSet').filter(isOurs).map(componentOf).sort();
    expect(stateful).toEqual(arrangement === 'all-on' ? ['console', 'edge', 'mcp-aggregator', 'translator'] : []);
  });

  test('what Kubernetes lets no upgrade change is as in the versions before: another value needs a way, under Upgrades in the README', () => {
    for (const { kind, metadata, spec } of workloads(objects)) {
      const name = metadata.labels['app.kubernetes.io/component'] as string;
      expect(spec.selector).toEqual({
        matchLabels: { 'app.kubernetes.io/name': 'model-gateway', 'app.kubernetes.io/instance': 'try', 'app.kubernetes.io/component': name },
      });
      if (kind !== 'StatefulSet') continue;
      const claims = spec.volumeClaimTemplates.map((claim: Rendered) => claim.metadata.name);
      expect([metadata.name, spec.serviceName, spec.podManagementPolicy ?? 'OrderedReady', claims]).toEqual([
        `try-model-gateway-${name}`,
        `try-model-gateway-${name}${name === 'nats' ? '-pods' : ''}`,
        name === 'postgresql' ? 'OrderedReady' : 'Parallel',
        ['data'],
      ]);
    }
  });

  test('a disruption budget for whatever has more than one pod, and for nothing else', () => {
    const several = workloads(objects)
      .filter(({ spec }) => (spec.replicas ?? 2) > 1)
      .map(componentOf);
    expect(ofKind(objects, 'PodDisruptionBudget').map(componentOf).sort()).toEqual(several.sort());
    for (const { spec } of ofKind(objects, 'PodDisruptionBudget')) expect(spec.maxUnavailable).toBe(1);
  });

  test('selectors find their own pods alone', () => {
    const pods = workloads(objects).map((one) => ({ component: componentOf(one), labels: one.spec.template.metadata.labels }));
    const selects = (selector: Record<string, string>): string[] =>
      pods.filter(({ labels }) => Object.entries(selector).every(([key, value]) => labels[key] === value)).map(({ component }) => component);
    for (const one of workloads(objects)) expect(selects(one.spec.selector.matchLabels)).toEqual([componentOf(one)]);
    for (const one of ofKind(objects, 'Service')) expect(selects(one.spec.selector)).toEqual([componentOf(one)]);
  });
});

describe('TLS towards servers of your own', () => {
  const folder = '/etc/model-gateway-tls';

  test('each pod has the files of the servers that it speaks with, and of no other', () => {
    for (const workload of workloads(rendered['tls-files']!)) {
      const name = componentOf(workload) as ServiceName;
      const reads = environmentOf(name);
      const expected = [
        ...(['nats', 'database'] as const).flatMap((server) => {
          const prefix = server.toUpperCase();
          const path = `${folder}/${server === 'nats' ? 'nats' : 'postgresql'}`;
          if (!reads.includes(`${prefix}_URL`)) return [];
          return [`${prefix}_TLS_CA_FILE=${path}/ca.crt`, `${prefix}_TLS_CERT_FILE=${path}/tls.crt`, `${prefix}_TLS_KEY_FILE=${path}/tls.key`];
        }),
        ...(reads.includes('REDIS_URL') ? [`REDIS_TLS_CA_FILE=${folder}/redis/ca.crt`, 'REDIS_TLS_SERVER_NAME=redis.example.com'] : []),
      ];
      const env = (containerOf(workload).env as Rendered[]).filter((one) => one.name.includes('_TLS_')).map((one) => `${one.name}=${one.value}`);
      expect([name, env.sort()]).toEqual([name, expected.sort()]);
      const mounts = (containerOf(workload).volumeMounts as Rendered[]).filter(({ mountPath }) => mountPath.startsWith(folder));
      expect(mounts.every(({ readOnly }) => readOnly)).toBe(true);
      const named = new Set(expected.flatMap((one) => /=(\/etc\/model-gateway-tls\/\w+)\//.exec(one)?.[1] ?? []));
      expect(new Set(mounts.map(({ mountPath }) => mountPath))).toEqual(named);
      const secrets = (workload.spec.template.spec.volumes as Rendered[]).filter((one) => one.secret);
      expect(secrets.map((one) => one.name).sort()).toEqual(mounts.map((one) => one.name).sort());
      for (const { secret } of secrets)
        expect(secret).toMatchObject({ secretName: expect.stringMatching(/^(?:nats|database|redis)-tls$/), defaultMode: 0o440 });
    }
  });

  test('what cannot be is refused in words', () => {
    const external = { enabled: false, existingSecret: 'nats' };
    expect(() => renderText({ values: { nats: { tls: { existingSecret: 'files' } } } })).toThrow('nats.enabled has to be false');
    expect(() => renderText({ values: { nats: { ...external, tls: { existingSecret: 'files', certKey: 'tls.crt' } } } })).toThrow('belong together');
    const values = { nats: { ...external, tls: { existingSecret: 'files' } }, settings: { NATS_TLS_CA_FILE: '/x' } };
    expect(() => renderText({ values })).toThrow('NATS_TLS_CA_FILE is set by nats.tls');
    expect(() => renderText({ values: { nats: { tls: { existingSecrets: 'files' } } } })).toThrow('existingSecrets');
  });
});

describe('NATS as a cluster', () => {
  const objects = rendered['nats-cluster']!;
  const set = workloads(objects).find((one) => componentOf(one) === 'nats');
  const conf = (objects: readonly Rendered[]): string => ofKind(objects, 'ConfigMap').find((one) => componentOf(one) === 'nats').data['nats.conf'];
  const replicasOf = (objects: readonly Rendered[]): string =>
    containerOf(workloads(objects).find((one) => componentOf(one) === 'stats')).env.find(({ name }: Rendered) => name === 'NATS_REPLICAS').value;

  test('three pods start together, find one another by name, and know one another by a password', () => {
    expect([set.spec.replicas, set.spec.podManagementPolicy]).toEqual([3, 'Parallel']);
    const headless = ofKind(objects, 'Service').find(({ metadata }) => metadata.name === set.spec.serviceName);
    expect([headless.spec.clusterIP, headless.spec.publishNotReadyAddresses]).toEqual(['None', true]);
    const env = containerOf(set).env as Rendered[];
    const routes = env.filter(({ name }) => /^NATS_ROUTE_\d$/.test(name));
    expect(routes.map(({ value }) => value)).toEqual(
      [0, 1, 2].map((at) => `"nats-route://route:$(NATS_ROUTE_PASSWORD)@${set.metadata.name}-${at}.${set.spec.serviceName}:6222"`),
    );
    // Kubernetes puts in what was defined before.
    expect(env.findIndex(({ name }) => name === 'NATS_ROUTE_PASSWORD')).toBeLessThan(env.indexOf(routes[0]!));
    for (const { name } of [...routes, { name: 'NATS_ROUTE_PASSWORD' }, { name: 'POD_NAME' }]) expect(conf(objects)).toContain(`$${name}`);
  });

  test('a server that waits for the others is not killed for it', () => {
    expect(containerOf(set).livenessProbe.exec.command.at(-1)).toBe('http://127.0.0.1:8222/healthz?js-enabled-only=true');
    expect(containerOf(set).readinessProbe.exec.command.at(-1)).toBe('http://127.0.0.1:8222/healthz?js-server-only=true');
  });

  test('the statistics are told how many copies there should be; one pod has no cluster', () => {
    expect([replicasOf(objects), replicasOf(rendered['default']!)]).toEqual(['3', '1']);
    expect(replicasOf(render({ values: { nats: { enabled: false, existingSecret: 'nats', replicas: 5 } } }))).toBe('5');
    expect(conf(rendered['default']!)).not.toMatch(/cluster \{|\$POD_NAME/);
    expect(() => renderText({ values: { nats: { replicas: 2 } } })).toThrow('replicas');
  });
});

describe('scaling', () => {
  const scaler = (autoscaling: object, name = 'edge'): Rendered =>
    ofKind(render({ values: { ...given, [name]: { autoscaling: { enabled: true, ...autoscaling } } } }), 'HorizontalPodAutoscaler')[0];
  const kinds = ({ spec }: Rendered): string[] => spec.metrics.map((one: Rendered) => one.resource?.name ?? one.pods.metric.name);

  test('by streams under way first and the processor second, or by the processor alone', () => {
    expect(kinds(scaler({}))).toEqual(['gateway_streams_active', 'cpu']);
    expect(kinds(scaler({ streams: 0 }))).toEqual(['cpu']);
    expect(kinds(scaler({}, 'translator'))).toEqual(['cpu']);
  });

  test('down slowly, one pod after the other, and the number of pods is left to it', () => {
    expect(scaler({}).spec.behavior.scaleDown).toEqual({ stabilizationWindowSeconds: 600, policies: [{ type: 'Pods', value: 1, periodSeconds: 120 }] });
    const edge = workloads(render({ values: { ...given, edge: { autoscaling: { enabled: true } } } })).find((one) => componentOf(one) === 'edge');
    expect(edge.spec.replicas).toBeUndefined();
  });
});

describe('rendering', () => {
  test('the same values give the same objects', () => {
    for (const mode of ['services', 'single']) expect(renderText({ values: { ...given, mode } })).toBe(renderText({ values: { ...given, mode } }));
  });

  test('an upgrade without the Secret of the installation stops, rather than make another master key', () => {
    expect(() => renderText({ args: ['--is-upgrade'] })).toThrow('try-model-gateway-secrets');
    expect(() => renderText({ args: ['--is-upgrade'], values: given })).not.toThrow();
    for (const { metadata } of ofKind(rendered['default']!, 'Secret')) expect(metadata.annotations['helm.sh/resource-policy']).toBe('keep');
  });

  test('secrets that are made are fresh, long, and agree with the addresses that hold them', () => {
    const read = (name: string): Record<string, string> => {
      const { data } = ofKind(rendered['default']!, 'Secret').find(({ metadata }) => metadata.name === `try-model-gateway-${name}`);
      return Object.fromEntries(Object.entries(data as Record<string, string>).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
    };
    expect(Buffer.from(read('secrets')['GATEWAY_MASTER_KEY']!, 'base64')).toHaveLength(32);
    const nats = read('nats');
    for (const name of services) {
      const upper = name.toUpperCase().replaceAll('-', '_');
      expect(nats[`NATS_URL_${upper}`]).toBe(`nats://${name}:${nats[`NATS_${upper}_PASSWORD`]}@try-model-gateway-nats:4222`);
      // A letter first: the server would read a number otherwise.
      expect(nats[`NATS_${upper}_PASSWORD`]).toMatch(/^[a-z]\w{40,}$/);
    }
    expect(new Set(Object.values(nats)).size).toBe(services.length * 2);
    expect(read('postgresql')['DATABASE_URL']).toContain(`:${read('postgresql')['POSTGRES_PASSWORD']}@`);
    expect(read('redis')['REDIS_URL']).toContain(`:${read('redis')['REDIS_PASSWORD']}@`);
  });

  test('two releases in one namespace share nothing', () => {
    const [one, other] = ['blue', 'green'].map((release) => render({ release }));
    const names = (objects: Rendered[]): string[] => objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(names(one!).filter((name) => names(other!).includes(name))).toEqual([]);
    // Nothing of one is named or selected by the other.
    expect(JSON.stringify(one)).not.toContain('green');
    for (const object of other!) {
      for (const selector of [
        object.spec?.selector?.matchLabels,
        object.kind === 'Service' ? object.spec.selector : undefined,
        object.spec?.podSelector?.matchLabels,
      ])
        if (selector) expect(selector['app.kubernetes.io/instance']).toBe('green');
    }
  });

  test('a change of the TOML file replaces the pods that read it', () => {
    const sums = (toml: string): string[] =>
      workloads(render({ values: { ...given, toml } }))
        .filter(isOurs)
        .map((one) => one.spec.template.metadata.annotations['checksum/config']);
    expect(sums('a')).not.toEqual(sums('b'));
  });

  test('numbers stay numbers, however large', () => {
    const edge = workloads(rendered['all-on']!).find((one) => componentOf(one) === 'edge');
    expect(containerOf(edge).env).toContainEqual({ name: 'RATE_LIMIT_RPM', value: '1000000' });
  });

  test('proxies before the edges neither buffer nor give up', () => {
    const [ingress] = ofKind(rendered['all-on']!, 'Ingress');
    expect(ingress.metadata.annotations).toMatchObject({
      'nginx.ingress.kubernetes.io/proxy-buffering': 'off',
      'nginx.ingress.kubernetes.io/proxy-read-timeout': '3600',
      'nginx.ingress.kubernetes.io/proxy-body-size': '64m',
      'nginx.ingress.kubernetes.io/proxy-next-upstream': 'off',
    });
    expect(ofKind(rendered['all-on']!, 'HTTPRoute')[0].spec.rules[0].timeouts).toEqual({ request: '0s', backendRequest: '0s' });
  });

  test('kinds of the Prometheus operator where the cluster knows them', () => {
    expect(ofKind(rendered['all-on']!, 'PodMonitor', 'PrometheusRule')).toHaveLength(2);
    expect(ofKind(render({ values: { ...given, metrics: { serviceMonitor: true, rules: true } } }), 'PodMonitor', 'PrometheusRule')).toEqual([]);
  });
});
