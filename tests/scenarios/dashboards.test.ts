/** The dashboard and the alerts in deploy/observability ask for series that a running gateway has. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

interface Rule {
  record?: string;
  alert?: string;
  expr: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}
interface Panel {
  id: number;
  type: string;
  targets?: { expr: string; legendFormat: string }[];
}

const folder = join(import.meta.dirname, '../../deploy/observability');
const rules = (parse(readFileSync(join(folder, 'rules.yaml'), 'utf8')) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(readFileSync(join(folder, 'dashboard.json'), 'utf8')) as { panels: Panel[] };
const targets = dashboard.panels.flatMap((panel) => panel.targets ?? []);
const recorded = rules.flatMap(({ record }) => record ?? []);
/** Labels that Prometheus adds to what it reads. */
const added = ['job', 'instance', 'le'];
/** Labels of series that an idle gateway has none of. */
const rare: Record<string, string[]> = {
  gateway_bodies_dropped_total: ['reason'],
  gateway_budget_alerts_total: ['percent'],
};

let fake: FakeUpstream;
let gateway: TestGateway;
/** Samples of a gateway that has had no trouble. */
let text: string;
/** Names of metrics, each with the labels that its series have. */
const metrics = new Map<string, Set<string>>();
beforeAll(async () => {
  fake = await startFakeUpstream();
  gateway = await startGateway({ arrangement: 'embedded' });
  await gateway.configure({
    upstreams: [{ name: 'fake', protocol: 'alpha', base_url: fake.url, api_keys: [{ key: 'sk-upstream' }] }],
    models: [{ name: 'm', upstream: 'fake', upstream_model_id: 'ok' }],
  });
  const asked = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] }),
  });
  expect([asked.status, (await asked.text()).length > 0]).toEqual([200, true]);
  text = await gateway.processes['gateway']!.metrics();
  for (const line of text.split('\n')) {
    const [, type, kind] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (type) for (const name of kind === 'histogram' ? [`${type}_bucket`, `${type}_sum`, `${type}_count`] : [type]) metrics.set(name, new Set(rare[name]));
    const [, name, labels] = /^([a-z_]+)\{([^}]*)\} /.exec(line) ?? [];
    if (name) for (const [, label] of labels!.matchAll(/(\w+)="/g)) metrics.get(name)?.add(label!);
  }
});
afterAll(async () => {
  await gateway?.stop();
  await fake?.close();
});

/** Names of series and labels in an expression. */
function read(expression: string): { names: string[]; labels: string[] } {
  const bare = expression.replaceAll(/"[^"]*"/g, '""');
  const grouped = [...bare.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(',').map((label) => label.trim()));
  const selected = [...bare.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*""/g)].map(([, label]) => label!);
  const names = [...bare.matchAll(/\b(?:gateway|process)_\w+|\bgateway:[\w:]+/g)].map(([name]) => name);
  return { names, labels: [...grouped, ...selected] };
}

test.each([...rules.map(({ alert, record, expr }) => [alert ?? record!, expr] as const), ...targets.map(({ expr }) => [expr, expr] as const)])(
  '%s',
  (_, expression) => {
    const { names, labels } = read(expression);
    const known = names.filter((name) => !recorded.includes(name));
    expect(known.filter((name) => !metrics.has(name))).toEqual([]);
    if (known.length === 0) return;
    const had = new Set([...added, ...known.flatMap((name) => [...metrics.get(name)!])]);
    expect(labels.filter((label) => !had.has(label))).toEqual([]);
  },
);

test.each(rules.flatMap(({ alert, expr }) => [...expr.matchAll(/\b(?:increase|delta)\((\w+)\[/g)].map(([, name]) => [alert, name!] as const)))(
  '%s: the first is an increase, since %s is there before it',
  (_, name) => expect(text).toMatch(new RegExp(`^${name}\\{[^}]*\\} 0$`, 'm')),
);

test('each alert says how urgent it is, what happened and what to do', () => {
  for (const { alert, labels, annotations } of rules)
    if (alert)
      expect([alert, labels?.['severity'], annotations]).toEqual([
        alert,
        expect.stringMatching(/^(page|warning)$/),
        { summary: expect.any(String), description: expect.any(String) },
      ]);
});

test('every metric of the gateway is shown', () => {
  const shown = new Set(targets.flatMap(({ expr }) => read(expr).names));
  const left = [...metrics.keys()].filter((name) => name.startsWith('gateway_') && !/_(sum|count)$/.test(name) && !shown.has(name));
  expect(left).toEqual([]);
});

test('panels have numbers of their own and ask for something', () => {
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  for (const { type, targets: asked } of dashboard.panels) if (type !== 'row') expect(asked?.length).toBeGreaterThan(0);
});
