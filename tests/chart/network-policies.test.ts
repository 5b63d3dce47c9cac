/** Who may reach whom, as data, held against the policies that the chart renders. */
import { describe, expect, test } from '@jest/globals';
import { componentOf, given, ofKind, type Rendered, render, workloads } from './helm.ts';

const gateway = ['edge', 'router', 'translator', 'script-runner', 'mcp-aggregator', 'stats', 'console'];
const everybody = [...gateway, 'nats', 'postgresql', 'redis'];

/** Port of each server, and who may reach it. Every other pair is denied. */
const allowed: Record<string, { port: number; from: string[] }> = {
  nats: { port: 4222, from: gateway },
  postgresql: { port: 5432, from: ['stats', 'console'] },
  redis: { port: 6379, from: ['edge', 'translator', 'console', 'mcp-aggregator'] },
};
/** Who calls addresses outside of the cluster. */
const outbound = ['translator', 'mcp-aggregator', 'console'];

const objects = render({ values: given });
const policies = ofKind(objects, 'NetworkPolicy');
const labels = Object.fromEntries(workloads(objects).map((one) => [componentOf(one), one.spec.template.metadata.labels as Record<string, string>]));

const matches = (selector: { matchLabels?: Record<string, string> }, pod: Record<string, string>): boolean =>
  Object.entries(selector.matchLabels ?? {}).every(([key, value]) => pod[key] === value);

/** As Kubernetes decides it: allowed where a policy of the pod has a rule for it, denied where only others have. */
function permits(direction: 'ingress' | 'egress', pod: string, port: number, isPeer: (peer: Rendered) => boolean, from = policies): boolean {
  const own = from.filter(({ spec }) => spec.policyTypes.includes(direction === 'ingress' ? 'Ingress' : 'Egress') && matches(spec.podSelector, labels[pod]!));
  expect(own.length).toBeGreaterThan(0);
  return own.some(({ spec }) =>
    (spec[direction] ?? []).some((rule: Rendered) => {
      const peers = rule[direction === 'ingress' ? 'from' : 'to'];
      return (rule.ports === undefined || rule.ports.some((one: Rendered) => one.port === port)) && (peers === undefined || peers.some(isPeer));
    }),
  );
}

const isPod = (name: string) => (peer: Rendered) =>
  peer.podSelector !== undefined && peer.namespaceSelector === undefined && matches(peer.podSelector, labels[name]!);
const contains = (cidr: string, address: string): boolean => {
  const [base = '', bits = '32'] = cidr.split('/');
  const number = (ip: string): number => ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - Number(bits));
  return Math.floor(number(base) / size) === Math.floor(number(address) / size);
};
const isAddress = (address: string) => (peer: Rendered) =>
  peer.ipBlock !== undefined && contains(peer.ipBlock.cidr, address) && !(peer.ipBlock.except ?? []).some((range: string) => contains(range, address));

describe('pods among themselves', () => {
  test.each(everybody.flatMap((from) => everybody.filter((to) => to !== from).map((to) => [from, to] as const)))('%s → %s', (from, to) => {
    for (const port of [4222, 5432, 6379, 7890, 9464, 8222]) {
      const expected = allowed[to]?.port === port && allowed[to].from.includes(from);
      const leaves = permits('egress', from, port, isPod(to));
      const enters = permits('ingress', to, port, isPod(from));
      // The public port is open to all who reach it, and nobody of us does.
      expect([from, to, port, leaves && enters]).toEqual([from, to, port, expected]);
    }
  });
});

describe('the world', () => {
  test.each(everybody)('%s reaches providers on 443 where its work is that, and no private, link-local or metadata address', (name) => {
    expect(permits('egress', name, 443, isAddress('93.184.216.34'))).toBe(outbound.includes(name));
    for (const address of ['169.254.169.254', '10.0.0.1', '192.168.1.1', '172.16.0.1', '100.100.100.200', '127.0.0.1'])
      for (const port of [80, 443, 8080])
        expect([name, address, port, permits('egress', name, port, isAddress(address))]).toEqual([name, address, port, false]);
    expect(permits('egress', name, 80, isAddress('93.184.216.34'))).toBe(false);
  });

  test.each(everybody)('%s is reached from outside only where it is public', (name) => {
    for (const port of [7890, 9464, 4222, 5432, 6379]) {
      const enters = permits('ingress', name, port, isAddress('93.184.216.34'));
      expect([name, port, enters]).toEqual([name, port, name === 'edge' && port === 7890]);
    }
  });

  test('everybody of the gateway may ask the cluster’s DNS, and no server needs to', () => {
    const isDns = (peer: Rendered): boolean => peer.podSelector?.matchLabels?.['k8s-app'] === 'kube-dns' && peer.namespaceSelector !== undefined;
    for (const name of everybody) expect([name, permits('egress', name, 53, isDns)]).toEqual([name, gateway.includes(name)]);
  });
});

test('servers of a NATS cluster reach one another and the cluster’s DNS, and nobody else reaches their routes', () => {
  const from = ofKind(render({ values: { ...given, nats: { ...given.nats, replicas: 3 } } }), 'NetworkPolicy');
  for (const name of everybody) {
    const enters = permits('ingress', 'nats', 6222, isPod(name), from);
    const leaves = permits('egress', name, 6222, isPod('nats'), from);
    expect([name, enters, leaves]).toEqual([name, name === 'nats', name === 'nats']);
  }
  expect(permits('egress', 'nats', 53, (peer) => peer.namespaceSelector !== undefined, from)).toBe(true);
  expect(permits('egress', 'nats', 443, isAddress('93.184.216.34'), from)).toBe(false);
  for (const name of gateway) expect([name, permits('ingress', 'nats', 4222, isPod(name), from)]).toEqual([name, true]);
});

describe('the script runner', () => {
  const own = (values: object): Rendered =>
    ofKind(render({ values: { ...given, ...values } }), 'NetworkPolicy').find((one) => componentOf(one) === 'script-runner');

  test('reaches NATS and DNS alone', () => {
    expect(own({}).spec.egress.map((rule: Rendered) => rule.ports.map((one: Rendered) => one.port))).toEqual([[53, 53], [4222]]);
    expect(own({}).spec.ingress ?? []).toEqual([]);
  });

  test('reaches NATS alone where that has a fixed address, which its pod then knows without DNS', () => {
    const values = { networkPolicy: { natsClusterIP: '10.96.7.7' } };
    expect(own(values).spec.egress.map((rule: Rendered) => rule.ports.map((one: Rendered) => one.port))).toEqual([[4222]]);
    const pod = workloads(render({ values: { ...given, ...values } })).find((one) => componentOf(one) === 'script-runner').spec.template.spec;
    expect(pod.hostAliases).toEqual([{ ip: '10.96.7.7', hostnames: ['try-model-gateway-nats'] }]);
  });
});

test('external servers are reached at their ports, from those alone who use them', () => {
  const external = render({
    values: {
      secrets: { existingSecret: 'k' },
      nats: { enabled: false, existingSecret: 'n' },
      postgresql: { enabled: false, existingSecret: 'p' },
      redis: { enabled: false, existingSecret: 'r' },
    },
  });
  const from = ofKind(external, 'NetworkPolicy');
  for (const name of gateway)
    for (const { port, from: who } of Object.values(allowed))
      expect([name, port, permits('egress', name, port, () => true, from)]).toEqual([name, port, who.includes(name)]);
});
