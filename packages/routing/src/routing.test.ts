/** Names, grants, lists, key order, plans and targets over small snapshots. */
import { describe, expect, test } from '@jest/globals';
import type { KeyGroup, Model, PlanRequest, ResolvedName, Snapshot, UpstreamRecord } from '@model-gateway/contracts';
import fc from 'fast-check';
import { buildPlan, fnv1a, isGranted, listedNames, matchesWildcard, orderKeys, resolveName, resolveTarget } from './index.ts';

const model = (name: string, more: Partial<Model> = {}): Model => ({
  name,
  upstream: 'up',
  upstream_model_id: `real-${name}`,
  aliases: [],
  hide_name: false,
  signature_passthrough: false,
  protocol: null,
  base_url: null,
  direct_path: false,
  kind: null,
  inference_profile: null,
  token_counting: 'inherit',
  extra_config: null,
  enabled: true,
  ...more,
});
const upstream = (name: string, more: Partial<UpstreamRecord> = {}): UpstreamRecord => ({
  id: `id-${name}`,
  name,
  protocol: 'alpha',
  base_url: 'https://h',
  api_keys: [],
  enabled: true,
  custom_headers: {},
  user_agent: null,
  token_counting: 'upstreamApi',
  timeouts: {},
  on_client_abort: 'cancel',
  neutral_headers: false,
  extra_config: null,
  ...more,
});
function snapshotOf(models: Model[], upstreams: UpstreamRecord[]): Snapshot {
  const names = new Map<string, ResolvedName>(
    models.flatMap((one) => [
      [one.name, { model: one, via: 'canonical' as const }] as const,
      ...one.aliases.map((alias) => [alias, { model: one, via: 'alias' as const }] as const),
    ]),
  );
  return {
    revision: 7,
    upstreams: new Map(upstreams.map((one) => [one.name, one])),
    models: new Map(models.map((one) => [one.name, one])),
    names,
    keyGroups: new Map(),
    accessKeys: new Map(),
  };
}
const ask = (name: string): PlanRequest => ({
  requestId: 'r',
  revision: 7,
  model: name,
  accessKey: 'k',
  keyGroup: 'g',
  clientProtocol: 'alpha',
  operation: 'generate',
  stream: false,
});
const group = (models: string[]): KeyGroup => ({ name: 'g', models, header_acl: [], strict_translation: false, enabled: true, description: '' });

describe('names', () => {
  const snapshot = snapshotOf(
    [model('open', { aliases: ['also'] }), model('hidden', { hide_name: true, aliases: ['mask'] }), model('off', { enabled: false, aliases: ['off-too'] })],
    [upstream('up')],
  );
  test.each(['open', 'also', 'mask'])('%s resolves', (name) => {
    expect(resolveName(snapshot, name).model.enabled).toBe(true);
  });
  test.each(['hidden', 'off', 'off-too', 'nothing', 'OPEN', '__proto__'])('%s is a 404', (name) => {
    expect(() => resolveName(snapshot, name)).toThrow(expect.objectContaining({ code: 'model_not_found', status: 404 }));
  });
  test('lists hide canonical names and disabled models, and show only what is granted by canonical name', () => {
    expect(listedNames(snapshot, group(['*'])).map((one) => one.name)).toEqual(['open', 'also', 'mask']);
    expect(listedNames(snapshot, group(['mask'])).map((one) => one.name)).toEqual([]);
    expect(isGranted(group(['hid*']), 'hidden')).toBe(true);
  });
});

describe('wildcards', () => {
  test.each([
    ['*', 'a/b:c', true],
    ['a*c', 'abc', true],
    ['a*c', 'abcd', false],
    ['*-mini*', 'gpt-5-mini-2', true],
    ['a.c', 'abc', false],
    ['', '', true],
  ])('%s on %s is %s', (pattern, text, expected) => {
    expect(matchesWildcard(pattern, text)).toBe(expected);
  });
  test('a pattern made to be slow is not', () => {
    const started = performance.now();
    expect(matchesWildcard('*a'.repeat(100), `${'a'.repeat(199)}b`)).toBe(false);
    expect(performance.now() - started).toBeLessThan(200);
  });
  test('agrees with the regular expression it stands for', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'b', '*') }), fc.string({ unit: fc.constantFrom('a', 'b') }), (pattern, text) => {
        expect(matchesWildcard(pattern, text)).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text));
      }),
    );
  });
});

describe('keys', () => {
  test('FNV-1a has its published values', () => {
    expect(fnv1a('')).toBe(0x811c9dc5);
    expect(fnv1a('a')).toBe(0xe40c292c);
    expect(fnv1a('foobar')).toBe(0xbf9cf968);
  });
  test('each key once, weighted ones first, standbys last', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { maxLength: 8 }), fc.string(), (weights, caller) => {
        const order = orderKeys(weights, caller, 'up');
        expect([...order].sort((a, b) => a - b)).toEqual(weights.map((_, index) => index));
        const firstStandby = order.findIndex((index) => weights[index] === 0);
        if (firstStandby >= 0) expect(order.slice(firstStandby).every((index) => weights[index] === 0)).toBe(true);
      }),
    );
  });
  test('first picks are in proportion to weight', () => {
    const first = Array.from({ length: 4000 }, (_, caller) => orderKeys([3, 1, 0], `key-${caller}`, 'up')[0]);
    const share = first.filter((index) => index === 0).length / first.length;
    expect(share).toBeGreaterThan(0.7);
    expect(share).toBeLessThan(0.8);
    expect(first).not.toContain(2);
  });
});

describe('plans', () => {
  const keyed = upstream('up', {
    api_keys: [
      { id: 'a', sealed: 's', weight: 2 },
      { id: 'b', sealed: 't', weight: 0 },
      { id: 'c', sealed: 'u', weight: 2, account: 'acc' },
    ],
  });
  test('the same caller always begins with the same key, another may not, and a standby is last', () => {
    const snapshot = snapshotOf([model('m', { aliases: ['also'] })], [keyed]);
    const first = (accessKey: string) => buildPlan(snapshot, { ...ask('also'), accessKey }).attempts.map((one) => one.keyIndex);
    expect(first('caller-1')).toEqual(first('caller-1'));
    expect(new Set(Array.from({ length: 50 }, (_, index) => first(`caller-${index}`).join()))).toEqual(new Set(['0,2,1', '2,0,1']));
    expect(buildPlan(snapshot, ask('also'))).toMatchObject({ revision: 7, model: 'm', balanced: false });
  });
  test('a target without what the attempt names is refused, never sent without its key', () => {
    const snapshot = snapshotOf([model('m')], [keyed]);
    expect(resolveTarget(snapshot, { model: 'm', upstream: 'up', keyIndex: 2 }).key).toEqual({ id: 'c', sealed: 'u', weight: 2, account: 'acc' });
    expect(resolveTarget(snapshot, { model: 'm', upstream: 'up', keyIndex: -1 }).key).toBeNull();
    for (const attempt of [
      { model: 'm', upstream: 'up', keyIndex: 3 },
      { model: 'm', upstream: 'gone', keyIndex: -1 },
      { model: 'gone', upstream: 'up', keyIndex: 0 },
    ])
      expect(() => resolveTarget(snapshot, attempt)).toThrow(expect.objectContaining({ code: 'no_upstream', status: 503 }));
  });
  test('a target inherits what the model leaves open, and joins extra_config with the model’s on top', () => {
    const snapshot = snapshotOf(
      [model('m', { extra_config: { region: 'b', async_mode: true } })],
      [upstream('up', { extra_config: { region: 'a', kept: 1 }, timeouts: { idle_ms: 5 }, neutral_headers: true })],
    );
    expect(resolveTarget(snapshot, { model: 'm', upstream: 'up', keyIndex: -1 })).toMatchObject({
      protocol: 'alpha',
      target: {
        baseUrl: 'https://h',
        directPath: false,
        upstreamModelId: 'real-m',
        neutralHeaders: true,
        extraConfig: { region: 'b', kept: 1, async_mode: true },
      },
      tokenCounting: 'upstreamApi',
      timeouts: { idle_ms: 5 },
    });
  });
  test('one attempt without keys, one a key otherwise', () => {
    const snapshot = snapshotOf(
      [model('m'), model('n', { upstream: 'two' })],
      [
        upstream('up'),
        upstream('two', {
          api_keys: [
            { id: 'a', sealed: 's', weight: 1 },
            { id: 'b', sealed: 't', weight: 0 },
          ],
        }),
      ],
    );
    expect(buildPlan(snapshot, ask('m')).attempts).toEqual([{ model: 'm', upstream: 'up', keyIndex: -1 }]);
    expect(buildPlan(snapshot, ask('n')).attempts.map((one) => one.keyIndex)).toEqual([0, 1]);
  });
  test('a disabled upstream is a 503', () => {
    const snapshot = snapshotOf([model('m')], [upstream('up', { enabled: false })]);
    expect(() => buildPlan(snapshot, ask('m'))).toThrow(expect.objectContaining({ status: 503 }));
  });
  test('a model overrides protocol, address and id; the credential stays the upstream’s', () => {
    const snapshot = snapshotOf(
      [model('m', { protocol: 'beta', base_url: 'https://other', direct_path: true, inference_profile: 'profile', token_counting: 'tiktoken' })],
      [upstream('up', { api_keys: [{ id: 'a', sealed: 's', weight: 1 }] })],
    );
    const route = resolveTarget(snapshot, { model: 'm', upstream: 'up', keyIndex: 0 });
    expect(route).toMatchObject({
      protocol: 'beta',
      target: { baseUrl: 'https://other', directPath: true, upstreamModelId: 'profile' },
      tokenCounting: 'tiktoken',
      key: { id: 'a' },
    });
  });
});
