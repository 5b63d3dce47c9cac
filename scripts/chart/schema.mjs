/** The chart's values: every key with its kind, its default and what it is for. `values.schema.json`, `values.yaml` and the table of the README are written from it. */
import { environmentOf, listVariables } from '../../packages/config/src/index.ts';
import { compositions, durableSubjects, serviceSubjects } from '../../packages/contracts/src/index.ts';

const text = (fallback, description, more = {}) => ({ type: 'string', default: fallback, description, ...more });
const whole = (fallback, description, minimum = 0) => ({ type: 'integer', minimum, default: fallback, description });
const flag = (fallback, description) => ({ type: 'boolean', default: fallback, description });
const list = (fallback, description, items = {}) => ({ type: 'array', items, default: fallback, description });
/** Passed on to Kubernetes as it is. */
const free = (fallback, description) => ({ type: 'object', additionalProperties: true, default: fallback, description });
const texts = (description) => ({ type: 'object', additionalProperties: { type: 'string' }, default: {}, description });
const object = (description, properties) => ({ type: 'object', additionalProperties: false, description, properties });

const resources = (cpu, memory, limit) => free({ requests: { cpu, memory }, limits: { memory: limit } }, 'Requests and limits of the container.');
const storage = (size) =>
  object('Its volume.', { size: text(size, 'Size of the claim.'), storageClass: text('', 'Storage class; empty is the cluster’s default.') });

/** Set by the chart itself. */
const own = ['CONFIG_FILE', 'DATA_DIR', 'PROMETHEUS_PORT', 'NATS_PERMISSIONS', 'NATS_REPLICAS', 'STORAGE_MODE', 'HOST', 'PORT'];

export const serviceNames = Object.keys(serviceSubjects);
/** `script-runner` → `scriptRunner`. */
export const keyOf = (service) => service.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());

/** Variables that `settings` may hold, with what is said of them. */
const settings = () =>
  Object.fromEntries(
    listVariables()
      .map(({ variable }) => variable)
      .filter(({ env, secret }) => env !== null && !secret && !own.includes(env))
      .map(({ env, description, parser }) => [env, { type: ['string', 'number', 'boolean'], description: `${description} Accepted: ${parser.accepts}.` }]),
  );

/** What each service reads, for the templates: secrets by the kind of Secret that holds them. */
export const servicesFile = () =>
  Object.fromEntries(
    serviceNames.map((name) => [
      name,
      {
        key: keyOf(name),
        modes: modesOf(name),
        settings: environmentOf(name).filter((env) => Object.hasOwn(settings(), env)),
        masterKey: environmentOf(name).includes('GATEWAY_MASTER_KEY'),
        redis: environmentOf(name).includes('REDIS_URL'),
        database: environmentOf(name).includes('DATABASE_URL'),
        console: environmentOf(name).includes('CONSOLE_SECRET_KEY'),
        // Whoever publishes durable events has an outbox that outlives it.
        outbox: serviceSubjects[name].publishes.some((subject) => durableSubjects.includes(subject)),
        // Whoever calls addresses that callers, admins or upstreams name.
        outbound: environmentOf(name).includes('OUTBOUND_PRIVATE'),
        public: isPublic(name),
      },
    ]),
  );

/** Who listens on the public port, and counts streams. */
const isPublic = (name) => name === 'edge' || name === 'data-plane';
/** Arrangements in which a service has pods of its own. */
const modesOf = (name) => {
  if (name === 'data-plane') return ['data-plane'];
  return compositions['data-plane'].includes(name) ? ['services'] : ['services', 'data-plane'];
};

const sizes = {
  'data-plane': ['500m', '384Mi', '1536Mi'],
  edge: ['250m', '256Mi', '1Gi'],
  translator: ['250m', '256Mi', '1Gi'],
  router: ['100m', '128Mi', '512Mi'],
  'script-runner': ['100m', '256Mi', '1536Mi'],
  'mcp-aggregator': ['100m', '128Mi', '512Mi'],
  stats: ['100m', '192Mi', '768Mi'],
  console: ['100m', '192Mi', '768Mi'],
};
const replicas = { edge: 2, translator: 2, router: 2, 'data-plane': 2 };

const service = (name) =>
  object(`The service \`${name}\`.`, {
    replicas: whole(replicas[name] ?? 1, 'Pods, where it is not scaled by itself.', 1),
    resources: resources(...sizes[name]),
    autoscaling: object('A HorizontalPodAutoscaler instead of a fixed number.', {
      enabled: flag(false, 'Whether there is one.'),
      minReplicas: whole(2, 'Fewest pods.', 1),
      maxReplicas: whole(10, 'Most pods.', 1),
      ...(isPublic(name) && {
        streams: whole(100, 'Streams under way in a pod (`gateway_streams_active`, by a custom metrics API) to aim at; 0 = processor alone.'),
      }),
      cpu: whole(70, 'Percent of the requested processor to aim at.', 1),
    }),
    podAnnotations: texts('Annotations of its pods.'),
    podLabels: texts('Labels of its pods.'),
    nodeSelector: texts('Nodes that it may run on.'),
    tolerations: list([], 'Taints that it tolerates.'),
    affinity: free({}, 'Affinity of its pods.'),
    extraEgress: list([], 'More rules of its network policy for what it may reach.'),
  });

/** Files of the TLS towards a server that this chart does not run. */
const tls = (what) =>
  object(`TLS towards ${what} by files, where \`enabled\` is \`false\`; files are read again for each connection.`, {
    existingSecret: text('', 'Secret with the files, mounted into the pods that speak with it. Empty: none.'),
    caKey: text('ca.crt', 'Its key with the authorities; empty is the system’s.'),
    certKey: text('', 'Its key with the certificate of the services (`tls.crt`); empty: they show none.'),
    keyKey: text('', 'Its key with the private key of that certificate (`tls.key`).'),
    serverName: text('', 'Name to verify in place of the address’s host.'),
  });

const server = (what, image, size, cpu, memory, keys, pods = 'as one pod') =>
  object(`${what}, run by this chart ${pods}.`, {
    enabled: flag(true, 'Whether this chart runs it. `false`: the one that `existingSecret` leads to.'),
    existingSecret: text('', `Secret with ${keys}. Empty: made by the chart, and kept over upgrades.`),
    image: text(image, 'Its image.'),
    ...(size !== '' && { storage: storage(size) }),
    resources: resources(cpu, memory, memory),
    podSecurityContext: free({}, 'Added to its pod’s security context.'),
    securityContext: free({}, 'Added to its container’s security context.'),
    tls: tls(what.split(/[, ]/)[0]),
  });

const privateRanges = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'];

/** Of a server that can be a cluster. */
const withReplicas = (section) => ({
  ...section,
  properties: {
    ...section.properties,
    replicas: {
      ...whole(
        1,
        'Pods of its cluster, each with a copy of what is not delivered yet; with `enabled: false` only the copies. To be chosen at the installation: a server that was alone drops its store when it joins a cluster.',
      ),
      enum: [1, 3, 5],
    },
  },
});

/** The schema of all values. */
export function schema() {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart model-gateway',
    type: 'object',
    additionalProperties: false,
    properties: {
      global: { type: 'object', description: 'Helm’s own, of charts that include this one; not read.' },
      mode: text(
        'services',
        '`services`: each service its own pods on NATS. `data-plane`: edge, router and translator in one process each, the others apart. `single`: one pod with SQLite on a volume.',
        { enum: ['services', 'data-plane', 'single'] },
      ),
      nameOverride: text('', 'Instead of the chart’s name, in names of objects.'),
      fullnameOverride: text('', 'Instead of release and chart, in names of objects.'),
      image: object('The gateway’s image.', {
        repository: text('model-gateway', 'Where it is.'),
        tag: text('', 'Its tag; empty is the chart’s `appVersion`.'),
        digest: text('', 'Its digest (`sha256:…`), which wins over the tag.', { pattern: '^(sha256:[0-9a-f]{64})?$' }),
        pullPolicy: text('IfNotPresent', 'When it is pulled.', { enum: ['Always', 'IfNotPresent', 'Never'] }),
        pullSecrets: list([], 'Names of Secrets for the registry.', { type: 'string' }),
      }),
      settings: {
        ...object('Variables of docs/configuration.md that hold no secret, by name. Each service gets those that it reads.', settings()),
        default: {},
      },
      toml: text('', 'The TOML file of docs/configuration.md, for all services.'),
      secrets: object('Keys of the gateway.', {
        existingSecret: text(
          '',
          'Secret with `GATEWAY_MASTER_KEY`, `CONSOLE_SECRET_KEY` and `CONSOLE_PASSWORD`. Empty: made at the first installation, kept over upgrades and after an uninstallation.',
        ),
        oidcSecret: text('', 'Secret with `CONSOLE_OIDC_CLIENT_SECRET`, for a sign-in by OpenID.'),
        telemetrySecret: text('', 'Secret with `OTEL_EXPORTER_OTLP_ENDPOINT`, and `OTEL_EXPORTER_OTLP_HEADERS` where the collector wants a key.'),
      }),
      nats: withReplicas(
        server(
          'NATS with JetStream',
          'nats:2.12-alpine',
          '10Gi',
          '100m',
          '512Mi',
          '`NATS_URL_EDGE` and the like for each service, and for servers of this chart `NATS_EDGE_PASSWORD` and the like, with more than one `NATS_ROUTE_PASSWORD`',
          'as one pod, or as a cluster of three or five',
        ),
      ),
      postgresql: server(
        'PostgreSQL, for a beginning',
        'postgres:17-alpine',
        '10Gi',
        '100m',
        '512Mi',
        '`DATABASE_URL`, and for a server of this chart `POSTGRES_PASSWORD`',
      ),
      redis: server(
        'Redis, where edges count limits together',
        'redis:7-alpine',
        '',
        '50m',
        '256Mi',
        '`REDIS_URL`, and for a server of this chart `REDIS_PASSWORD`. With `enabled: false` and none there is no Redis',
      ),
      outbox: object('Rows and audit records that are not delivered yet when a pod ends.', {
        persistence: object('Where they are kept.', {
          enabled: flag(
            false,
            '`true`: services that have an outbox are StatefulSets, and what a pod could not deliver is delivered by the next. `false`: it is lost with the pod, and the log says how many.',
          ),
          size: text('1Gi', 'Size of each claim.'),
          storageClass: text('', 'Storage class; empty is the cluster’s default.'),
        }),
      }),
      ...Object.fromEntries(serviceNames.map((name) => [keyOf(name), service(name)])),
      single: object('The pod of `mode: single`.', {
        resources: resources('250m', '384Mi', '2Gi'),
        persistence: object('Its volume: database, outbox and what else is in `DATA_DIR`.', {
          size: text('10Gi', 'Size of the claim.'),
          storageClass: text('', 'Storage class; empty is the cluster’s default.'),
          existingClaim: text('', 'A claim that is there already.'),
        }),
      }),
      terminationGracePeriodSeconds: whole(
        60,
        'Seconds before a pod is killed: at least `preStopSeconds` and `server.lame_duck_seconds` and `server.drain_seconds` and 5.',
        1,
      ),
      preStopSeconds: whole(5, 'Seconds that a leaving pod goes on as before, until nobody sends it new connections.'),
      priorityClassName: text('', 'Priority class of all pods.'),
      podAnnotations: texts('Annotations of all pods.'),
      topologySpread: flag(true, 'Whether pods of a service are spread over hosts and zones where they can be.'),
      podDisruptionBudget: object('Of each service with more than one pod.', {
        enabled: flag(true, 'Whether there is one.'),
        maxUnavailable: whole(1, 'Pods of a service that may be away at once when a node is drained.', 1),
      }),
      service: object('The public service, before the edges.', {
        type: text('ClusterIP', 'Its type.', { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'] }),
        port: whole(7890, 'Its port.', 1),
        annotations: texts('Its annotations.'),
      }),
      ingress: object('An Ingress before the edges.', {
        enabled: flag(false, 'Whether there is one.'),
        className: text('', 'Ingress class.'),
        host: text('', 'Host name that leads here.'),
        tlsSecret: text('', 'Secret with its certificate.'),
        annotations: texts('Its annotations, in place of those for nginx (no buffering, an hour between two bytes, no second try, bodies up to 64 MiB).'),
      }),
      gatewayApi: object('An HTTPRoute before the edges.', {
        enabled: flag(false, 'Whether there is one.'),
        parentRefs: list([], 'Gateways that it belongs to.'),
        hostnames: list([], 'Host names that lead here.', { type: 'string' }),
      }),
      networkPolicy: object('What may reach what; all else is denied both ways.', {
        enabled: flag(true, 'Whether there are policies.'),
        edgeFrom: list([], 'Peers that may call the public port; none is everybody.'),
        metricsFrom: list([], 'Peers that may read metrics; none is nobody.'),
        dns: list(
          [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } }, podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } } }],
          'Peers that are the cluster’s DNS.',
        ),
        outboundPorts: list([443], 'Ports of upstreams, MCP servers and identity providers.', { type: 'integer' }),
        outboundExcept: list(privateRanges, 'Ranges that they are not in: private, link-local and metadata addresses.', { type: 'string' }),
        outboundAllow: list([], 'Peers that may be called on any port in spite of that, such as an upstream in the cluster.'),
        natsPeers: list([], 'Peers that are an external NATS; none is everybody at its port.'),
        natsPort: whole(4222, 'Port of an external NATS.', 1),
        postgresqlPeers: list([], 'Peers that are an external PostgreSQL; none is everybody at its port.'),
        postgresqlPort: whole(5432, 'Port of an external PostgreSQL.', 1),
        redisPeers: list([], 'Peers that are an external Redis; none is everybody at its port.'),
        redisPort: whole(6379, 'Port of an external Redis.', 1),
        natsClusterIP: text('', 'A fixed address for this chart’s NATS. With it the script runner finds NATS without DNS, and reaches nothing else at all.'),
      }),
      metrics: object('For the Prometheus operator; made only where the cluster knows its kinds.', {
        serviceMonitor: flag(false, 'Whether there is a PodMonitor of all pods.'),
        rules: flag(false, 'Whether there is a PrometheusRule with the alerts of deploy/observability.'),
        labels: texts('Labels of both, by which an operator finds them.'),
      }),
    },
  };
}
